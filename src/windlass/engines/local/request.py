"""What the local engine is asked to start: the rendered claim.

Must not look at the machine. Pure, and the same after a trip through JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from windlass.engines.base import ClaimRequest
from windlass.engines.local.machine import Gpu
from windlass.spec.model import ANY_GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRequest:
    """A claim as this engine runs it: so many agents, each with a part of this machine."""

    claim: str
    run: str
    attempt: int
    nodes: int
    gpus_per_node: int
    """0 for a CPU run, and when accelerators are emulated."""
    gpu_models: tuple[str, ...]
    """Any of these will do, the first that has enough free."""
    is_tpu: bool
    is_emulated: bool
    cpus_per_node: float
    has_cpus: bool
    """Whether the spec named the number, so that it may not be exceeded."""
    memory_bytes_per_node: int
    folder: str
    environment: Mapping[str, str]

    @property
    def cpus_in_all(self) -> float:
        """Processors that all nodes together count for."""
        return self.nodes * self.cpus_per_node

    @property
    def memory_in_all(self) -> int:
        """Memory that all nodes together count for."""
        return self.nodes * self.memory_bytes_per_node

    def takes(self, gpu: Gpu) -> bool:
        """Whether the GPU is of a model that the spec names."""
        return gpu.model in self.gpu_models or ANY_GPU in self.gpu_models

    def pick(self, free: Sequence[Gpu]) -> list[Gpu] | None:
        """GPUs of one model for every node: of the first model named that has enough."""
        needed = self.nodes * self.gpus_per_node
        if needed == 0:
            return []
        for wanted in self.gpu_models:
            models = sorted({gpu.model for gpu in free}) if wanted == ANY_GPU else [wanted]
            for model in models:
                fitting = [gpu for gpu in free if gpu.model == model]
                if len(fitting) >= needed:
                    return fitting[:needed]
        return None

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the engine's own folder."""
        return asdict(self) | {"environment": dict(self.environment)}


def from_json(fields: Mapping[str, Any]) -> LocalRequest:
    """The request that `to_json` wrote."""
    return LocalRequest(**{**fields, "gpu_models": tuple(fields["gpu_models"])})


def render(claim: ClaimRequest) -> LocalRequest:
    """The request for a claim."""
    needs_gpus = bool(claim.accelerators) and not claim.is_emulated
    models = tuple(wanted.name for wanted in claim.accelerators if not wanted.is_tpu)
    return LocalRequest(
        claim=claim.id,
        run=claim.run,
        attempt=claim.attempt,
        nodes=claim.nodes,
        gpus_per_node=claim.accelerators_per_node if needs_gpus else 0,
        gpu_models=models,
        is_tpu=needs_gpus and not models,
        is_emulated=claim.is_emulated,
        cpus_per_node=claim.cpus_per_node or 1.0,
        has_cpus=claim.cpus_per_node is not None,
        memory_bytes_per_node=claim.memory_bytes_per_node or 0,
        folder=claim.folder,
        environment=claim.environment,
    )
