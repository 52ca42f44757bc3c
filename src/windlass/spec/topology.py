"""How many hosts a TPU slice has and how many devices a framework sees on each.

Must not know prices or zones. Facts of Cloud TPU: v2 to v4, v5p and tpu7x count TensorCores in
the name of a slice, v5e and v6e count chips; slices larger than one host have four chips a host.
"""

from __future__ import annotations

from windlass.spec.model import Accelerators, Launch, Spec

_CORES_PER_HOST = 8
_CHIPS_PER_HOST = 4
_CHIPS_OF_LARGE_HOST = 8
_NAMED_BY_CHIPS = frozenset({"v5e", "v6e"})
# On v2, v3 and tpu7x each of a chip's two cores is a device of its own.
_CORES_ARE_DEVICES = frozenset({"v2", "v3", "tpu7x"})


def hosts_per_slice(slice_: Accelerators) -> int:
    """Hosts of one TPU slice."""
    if slice_.name in _NAMED_BY_CHIPS:
        if slice_.count <= _CHIPS_OF_LARGE_HOST:
            return 1
        return slice_.count // _CHIPS_PER_HOST
    return max(1, slice_.count // _CORES_PER_HOST)


def devices_per_node(wanted: Accelerators | None) -> int:
    """Accelerators that a framework sees on one node; 0 for a CPU run."""
    if wanted is None:
        return 0
    if not wanted.is_tpu:
        return wanted.count
    hosts = hosts_per_slice(wanted)
    if wanted.name in _NAMED_BY_CHIPS or wanted.name in _CORES_ARE_DEVICES:
        return max(1, wanted.count // hosts)
    return max(1, wanted.count // 2 // hosts)


def node_count(spec: Spec, wanted: Accelerators | None) -> int:
    """Nodes of a run: for TPUs, hosts of all its slices."""
    if wanted is not None and wanted.is_tpu:
        return spec.resources.nodes_min * hosts_per_slice(wanted)
    return spec.resources.nodes_min


def ranks_per_node(spec: Spec, wanted: Accelerators | None) -> int:
    """torchrun's way is a rank per accelerator; everything else starts one process a node."""
    if spec.launch is Launch.TORCHRUN:
        return max(1, devices_per_node(wanted))
    return 1
