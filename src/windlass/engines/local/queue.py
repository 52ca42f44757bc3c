"""Who may start on this machine now, and why the others wait.

Must not start anything (engine.py does). Pure: claims in their order in, placements out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.engines.local.machine import Gpu
from windlass.engines.local.request import LocalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A claim that may start, with the GPUs of each of its nodes."""

    claim: str
    gpus: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A claim that holds part of the machine."""

    request: LocalRequest
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What the machine has in all."""

    cpus: float
    memory_bytes: int
    gpus: tuple[Gpu, ...]


class Room:
    """What is left of the machine, as claims are offered to it in the order they came.

    First come, first served: what an earlier claim waits for is not given to a later one, but a
    later one may use what the earlier has no use for. A gang larger than the machine has it alone.
    When a claim leaves, a new Room is needed; one more claim only needs to be offered.
    """

    def __init__(self, capacity: Capacity, started: Sequence[Started]) -> None:
        self._capacity = capacity
        self._holders = [held.request.claim for held in started]
        taken = {index for held in started for node in held.placement.gpus for index in node}
        self._gpus = [gpu for gpu in capacity.gpus if gpu.index not in taken]
        self._cpus = capacity.cpus - sum(held.request.cpus_in_all for held in started)
        used_bytes = sum(held.request.memory_in_all for held in started)
        self._memory_bytes = capacity.memory_bytes - used_bytes
        self._is_idle = not started
        self._waiting = 0

    def offer(self, request: LocalRequest) -> Placement | str:
        """Where the claim may start now, or the reason why it waits."""
        placement = self._take(request)
        if placement is not None:
            return placement
        self._waiting += 1
        reason = self._why_not(request)
        self._reserve(request)
        return reason

    def _take(self, request: LocalRequest) -> Placement | None:
        """Give the claim what it needs, when it is there."""
        is_alone = self._is_idle and not self._waiting
        if not is_alone and request.cpus_in_all > self._cpus:
            return None
        if request.memory_in_all > self._memory_bytes:
            return None
        gpus = self._pick(request)
        if gpus is None:
            return None
        held = {gpu.index for gpu in gpus}
        self._gpus = [gpu for gpu in self._gpus if gpu.index not in held]
        self._subtract(request)
        self._is_idle = False
        self._holders.append(request.claim)
        size = request.gpus_per_node
        nodes = tuple(
            tuple(gpu.index for gpu in gpus[node * size : (node + 1) * size])
            for node in range(request.nodes)
        )
        return Placement(claim=request.claim, gpus=nodes)

    def _reserve(self, request: LocalRequest) -> None:
        """Keep what a waiting claim needs from those behind it."""
        kept = self._pick(request)
        if kept is None:
            kept = [gpu for gpu in self._gpus if request.takes(gpu)]
        self._gpus = [gpu for gpu in self._gpus if gpu not in kept]
        self._subtract(request)

    def _subtract(self, request: LocalRequest) -> None:
        self._cpus -= request.cpus_in_all
        self._memory_bytes -= request.memory_in_all

    def _why_not(self, request: LocalRequest) -> str:
        """The reason in plain words."""
        place = f"number {self._waiting} in the queue"
        if self._pick(request) is None:
            needed = request.nodes * request.gpus_per_node
            free = sum(request.takes(gpu) for gpu in self._gpus)
            noun = "GPU is" if needed == 1 else "GPUs are"
            what = f"{needed} {noun} needed and {free} free"
        elif request.memory_in_all > self._memory_bytes:
            what = "not enough memory is free"
        else:
            what = f"all {self._capacity.cpus:g} processors are in use"
        holders = ", ".join(claim.rsplit("-", 2)[0] for claim in self._holders[:3])
        more = f" and {len(self._holders) - 3} more" if len(self._holders) > 3 else ""
        return f"{what}, {place}" + (f", behind {holders}{more}" if holders else "")

    def _pick(self, request: LocalRequest) -> list[Gpu] | None:
        return request.pick(self._gpus)
