"""Hosts and devices of what can be asked for: facts of Cloud TPU, as a table."""

from __future__ import annotations

import pytest

from windlass.spec.accelerators import TPUS, accelerators
from windlass.spec.model import Accelerators, Launch, Resources, Spec
from windlass.spec.topology import devices_per_node, hosts_per_slice, node_count, ranks_per_node

SLICES = {
    "v2-8": (1, 8),
    "v2-32": (4, 8),
    "v3-8": (1, 8),
    "v3-32": (4, 8),
    "v4-8": (1, 4),
    "v4-16": (2, 4),
    "v4-128": (16, 4),
    "v5e-1": (1, 1),
    "v5e-4": (1, 4),
    "v5e-8": (1, 8),
    "v5e-16": (4, 4),
    "v5e-256": (64, 4),
    "v5p-8": (1, 4),
    "v5p-16": (2, 4),
    "v6e-1": (1, 1),
    "v6e-8": (1, 8),
    "v6e-16": (4, 4),
    "v6e-256": (64, 4),
}


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_has_hosts_and_devices(name):
    wanted = accelerators(name)
    assert (hosts_per_slice(wanted), devices_per_node(wanted)) == SLICES[name]


EVERY_SLICE = [
    Accelerators(name=name, count=count, is_tpu=True) for name in TPUS for count in TPUS[name]
]


def test_every_slice_is_the_sum_of_its_hosts():
    for wanted in EVERY_SLICE:
        is_in_cores = wanted.name in ("v4", "v5p")
        devices = wanted.count // 2 if is_in_cores else wanted.count
        assert hosts_per_slice(wanted) * devices_per_node(wanted) == devices, wanted


def make_spec(on="", nodes=1, launch=Launch.PLAIN):
    wanted = (accelerators(on),) if on else ()
    resources = Resources(accelerators=wanted, nodes_min=nodes, nodes_max=nodes)
    return Spec(name="r", run="true", launch=launch, resources=resources)


NODES = {
    "CPUs": ("", 3, 3),
    "GPUs": ("H100:8", 4, 4),
    "one slice": ("v5e-16", 1, 4),
    "two slices": ("v5e-16", 2, 8),
    "a slice of one host": ("v6e-8", 2, 2),
}


@pytest.mark.parametrize(("on", "asked", "nodes"), NODES.values(), ids=NODES)
def test_nodes_are_hosts_of_all_slices(on, asked, nodes):
    wanted = accelerators(on) if on else None
    assert node_count(make_spec(on, asked), wanted) == nodes


RANKS = {
    "torchrun on GPUs": ("H100:8", Launch.TORCHRUN, 8),
    "torchrun on CPUs": ("", Launch.TORCHRUN, 1),
    "torchrun on a TPU": ("v5e-16", Launch.TORCHRUN, 4),
    "jax on GPUs": ("H100:8", Launch.JAX, 1),
    "jax on a TPU": ("v5e-16", Launch.JAX, 1),
    "plain": ("H100:8", Launch.PLAIN, 1),
    "tensorflow": ("H100:8", Launch.TENSORFLOW, 1),
}


@pytest.mark.parametrize(("on", "launch", "ranks"), RANKS.values(), ids=RANKS)
def test_only_torchrun_starts_a_rank_for_each_device(on, launch, ranks):
    wanted = accelerators(on) if on else None
    assert ranks_per_node(make_spec(on, launch=launch), wanted) == ranks


def test_gpus_are_counted_as_written_and_a_cpu_run_has_none():
    assert devices_per_node(accelerators("H100:8")) == 8
    assert devices_per_node(None) == 0
