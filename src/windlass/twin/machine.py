"""A machine as the fleet keeps it, what it runs, and who hears of it.

Must not change one: the fleet does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from windlass.twin.market import Model, Wanted


class State(StrEnum):
    """Where a machine is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    WARNED = "warned"
    """Told that it will be taken back."""
    OFF = "off"
    """Its disk is there; it costs nothing but that."""


class End(StrEnum):
    """Why a machine no longer runs."""

    STOPPED = "stopped"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    EXITED = "exited"
    """Its program ended, where a service waits for that."""
    FAILED = "failed"
    """The host died."""


MANAGED = frozenset({"aiplatform"})


@dataclass(slots=True, kw_only=True)
class Machine:
    """One machine. Changes in place: there may be a hundred thousand."""

    id: str
    service: str
    """Whose it is: that service's watcher hears of it."""
    owner: str
    """The key of the resource that it belongs to, on a shelf of that service."""
    wanted: Wanted
    is_counted: bool = True
    """Whether it takes room and quota, costs something and is preempted for itself. Of the hosts
    of a TPU slice only the first does, for the slice as a whole."""
    state: State = State.STARTING
    starts: int = 0
    """How often it was started: appointments made for an earlier life are void."""
    draws: int = 0
    """How often it was drawn when it will be taken back: only the last counts."""
    running_since: float = 0.0
    ends_at: float | None = None
    is_live: bool = False
    """It has processes of its own."""
    address: str = ""
    """Where its processes listen; empty for one that is only modelled."""
    is_leaving: bool = False
    """It was removed; its processes are still ending."""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_managed(self) -> bool:
        """Whether its service takes a fee, and counts quota of its own."""
        return self.service in MANAGED

    @property
    def appointment(self) -> str:
        """The key of appointments of this life."""
        return f"{self.id}:{self.starts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """What a machine's processes are made from."""

    hostname: str
    environment: Mapping[str, str] = field(default_factory=dict)
    startup_script: str = ""
    shutdown_script: str = ""
    argv: tuple[str, ...] = ()
    """A program whose end is the machine's end; for services that run one."""
    files: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    """Names of the GPUs that `nvidia-smi` is to show."""
    neighbours: Mapping[str, str] = field(default_factory=dict)
    """Other machines, started or not, by the host names under which it must find them."""


class Watcher(Protocol):
    """A service that has machines."""

    def boot(self, machine: Machine) -> Boot | None:
        """What it runs; None for nothing worth a process."""

    def running(self, machine: Machine) -> None:
        """It has booted."""

    def warned(self, machine: Machine) -> None:
        """It will be taken back in a moment."""

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """It no longer runs. `status` is that of a program that exited."""


class Bodies(Protocol):
    """Machines as real processes."""

    def start(self, machine_id: str, boot: Boot) -> str:
        """Start it, on its disk if it has one; the address at which it listens, or nothing when
        this host cannot run it: then it stays modelled."""

    def resume(self, machine_id: str, address: str) -> None:
        """Look after one that was started before this process was."""

    def warn(self, machine_id: str) -> None:
        """Press its power button."""

    def kill(self, machine_id: str) -> None:
        """Cut its power."""

    def delete(self, machine_id: str) -> None:
        """Its disk goes too."""

    def exited(self, machine_id: str) -> int | None:
        """Exit status of its program, once it has ended."""

    def living(self) -> list[str]:
        """Those that run."""


PLAIN = tuple(name for name in Machine.__slots__ if name not in ("wanted", "state", "labels"))


def encoded(machine: Machine) -> dict[str, Any]:
    """As it is written down."""
    document: dict[str, Any] = {name: getattr(machine, name) for name in PLAIN}
    document["wanted"] = list(machine.wanted)
    document["state"] = machine.state.value
    document["labels"] = dict(machine.labels)
    return document


def decoded(document: dict[str, Any]) -> Machine:
    """As it was written down."""
    zone, type_, chip, chips, model = document.pop("wanted")
    wanted = Wanted(zone, type_, chip, chips, Model(model))
    return Machine(wanted=wanted, state=State(document.pop("state")), **document)
