"""A checked spec as frozen values: what the user wrote, with units resolved.

Must not read files (load.py does) nor know any engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

ANY_GPU = "GPU"
"""The name for a GPU of whatever model there is."""


class Launch(StrEnum):
    """Who starts the ranks, and so what environment they are given."""

    PLAIN = "plain"
    TORCHRUN = "torchrun"
    JAX = "jax"
    TENSORFLOW = "tensorflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """`H100:8` (eight GPUs in each node) or `v5e-16` (a TPU slice of sixteen chips)."""

    name: str
    """Canonical: `H100`, `A100-80`, `v5e`; `GPU` for any."""
    count: int
    """GPUs per node, or the number in the slice's name."""
    is_tpu: bool

    def __str__(self) -> str:
        return f"{self.name}-{self.count}" if self.is_tpu else f"{self.name}:{self.count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What each node must have, and how many nodes (slices, for TPUs)."""

    accelerators: tuple[Accelerators, ...] = ()
    """Any of these will do."""
    nodes_min: int = 1
    nodes_max: int = 1
    cpus: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    machine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where the run may go and how it may be bought."""

    engines: tuple[str, ...] = ()
    """Empty: the user's configuration decides, `local` when it is silent."""
    regions: tuple[str, ...] = ()
    buy: tuple[str, ...] = ()
    race: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much there is to do, for the planner and the progress bar."""

    steps: int | None = None
    params: float | None = None
    tokens: float | None = None
    reference_accelerators: Accelerators | None = None
    reference_nodes: int | None = None
    reference_step_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop trying."""

    deadline_s: float | None = None
    """A target, counted from submit."""
    budget_usd: float | None = None
    restarts: int = 10
    ttl_s: float | None = None
    """A hard stop of the run and its machines, counted from submit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where checkpoints go, how often, and how many are kept."""

    to: str | None = None
    """None: the run folder's `checkpoints/`."""
    every_s: float | None = None
    """None: `auto`."""
    keep: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One run, as the user wants it."""

    name: str
    run: str
    launch: Launch = Launch.PLAIN
    workdir: str = "."
    """As written: relative to the spec's own folder."""
    setup: str | None = None
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Name in the environment to name at the source."""
    resources: Resources = Resources()
    where: Where = Where()
    engine: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    work: Work | None = None
    limits: Limits = Limits()
    checkpoint: Checkpoint | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
