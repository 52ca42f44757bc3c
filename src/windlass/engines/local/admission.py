"""Whether a claim can ever run on this machine, and if not, exactly why not.

Must not look at who uses the machine now: waiting would help against that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from windlass.engines.local.machine import Machine
from windlass.engines.local.request import LocalRequest
from windlass.errors import EngineRejected, MachineTooSmall

_EMULATE = "Add --emulate to run it on the CPU, or choose an engine that has them with --on."


def admit(machine: Machine, request: LocalRequest, options: Mapping[str, Any]) -> None:
    """Raise MachineTooSmall or EngineRejected when the claim can never run here."""
    if options:
        names = ", ".join(sorted(options))
        raise EngineRejected(
            f"the local engine has no options, but `engine: local:` sets {names}",
            remedy="Remove them from the spec.",
        )
    if request.is_tpu:
        raise MachineTooSmall("this machine has no TPU", remedy=_EMULATE)
    _check_gpus(machine, request)
    if request.has_cpus and request.cpus_per_node > machine.cpus:
        raise MachineTooSmall(
            f"each node needs {request.cpus_per_node:g} processors and this machine has "
            f"{machine.cpus}",
            remedy="Lower resources.cpus, or choose another engine with --on.",
        )
    if request.memory_in_all > machine.memory_bytes:
        raise MachineTooSmall(
            f"{request.memory_in_all / 2**30:.1f} GiB of memory are needed "
            f"({request.nodes} nodes) and this machine has {machine.memory_bytes / 2**30:.1f} GiB",
            remedy="Lower resources.memory or resources.nodes, or choose another engine with --on.",
        )


def _check_gpus(machine: Machine, request: LocalRequest) -> None:
    needed = request.nodes * request.gpus_per_node
    if needed == 0 or request.pick(machine.gpus) is not None:
        return
    have = Counter(gpu.model for gpu in machine.gpus)
    wanted = " or ".join(f"{needed} x {model}" for model in request.gpu_models)
    there = ", ".join(f"{count} x {model}" for model, count in sorted(have.items()))
    nodes = f" ({request.nodes} nodes of {request.gpus_per_node})" if request.nodes > 1 else ""
    raise MachineTooSmall(
        f"{wanted}{nodes} needed, and this machine has {there or 'no GPU that nvidia-smi shows'}",
        remedy=_EMULATE,
    )
