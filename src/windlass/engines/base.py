"""The protocol every engine implements, and the values that cross it.

Must not name an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType, Protocol, TypeVar, runtime_checkable

from windlass.spec.model import Accelerators

Handle = NewType("Handle", str)


class Seen(StrEnum):
    """What an engine saw of a claim. GONE (looked, confirmed absent) is not UNKNOWN."""

    PENDING = "pending"
    """It waits in the engine's own queue."""
    RUNNING = "running"
    """Something of it is up; `missing` names the nodes that are not there any more."""
    GONE = "gone"
    """Nothing of it is left."""
    UNKNOWN = "unknown"
    """The engine could not look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an engine saw of one claim."""

    seen: Seen
    start: int = 1
    """Which start of the claim this is, for engines that put a claim back into their queue."""
    missing: tuple[int, ...] = ()
    """Nodes that were up and are not any more: lost, unless they left an exit object."""
    patience_s: float | None = None
    """It is PENDING where there may be nothing free, and nobody knows for how long: so long after
    it was asked for, others are asked for beside it. None: it waits for something else."""
    reason: str = ""
    """Why, in plain words: shown by `windlass explain`."""
    refused: str = ""
    """Code of the error with which the engine has refused it for good (`out-of-stock`,
    `quota-exceeded`, `place-unfit`); such a claim never had a machine."""
    up_at: float | None = None
    """Since when its machines are paid for, by the time of day; None where the engine does not
    say, and before there are any."""
    down_at: float | None = None
    """Since when they are not any more; None where the engine does not say, and before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Facts about an engine that the controller and the planner need."""

    nodes_max: int
    start_timeout_s: float
    """How long a claim may take from RUNNING to its first heartbeats."""
    stale_s: float
    """How old an observation may be. GONE is believed after it was seen for this long."""
    notice_s: float
    """How long ranks have between SIGTERM and SIGKILL."""
    is_rented: bool = False
    """Its machines are rented for the run: an offer is chosen, and its price shown, before."""
    runs_containers: bool = False
    """Ranks run in the spec's `image`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """A claim with what an engine needs to carry it out."""

    id: str
    run: str
    attempt: int
    nodes: int
    accelerators: tuple[Accelerators, ...]
    """Any of these will do; empty for a CPU run."""
    accelerators_per_node: int
    cpus_per_node: float | None
    memory_bytes_per_node: int | None
    folder: str
    """URL of the run's folder."""
    options: Mapping[str, Any]
    """The spec's `engine:` block for this engine."""
    is_emulated: bool
    environment: Mapping[str, str]
    """What ranks inherit from the caller, where the engine runs on the caller's machine."""
    secrets: Mapping[str, str]
    """Name in the environment to name at the source; never a value."""
    image: str = ""
    """The spec's container, where the engine runs any; empty for one of its own choice."""
    offer: str = ""
    """What to rent, by its id in the catalog; empty where nothing is."""
    buy: str = ""
    """How to pay for it, as the spec writes it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What every object that is made for the claim is to carry."""
    made_at: float = 0.0
    """When the claim was written down."""
    expires_at: float | None = None
    """When its machines would have to be gone, had they come at once: they are held for as long
    as it is from `made_at` until then, whatever happened to us."""
    ends_at: float | None = None
    """When nothing of the run may be left, however late machines came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Something in an engine that carries our label."""

    handle: Handle
    claim: str


Request = TypeVar("Request")


class Engine(Protocol[Request]):
    """Where attempts run. Raises only EngineError and CapacityError kinds."""

    name: str

    def limits(self) -> Limits:
        """1. Constant for the life of the engine object."""

    def render(self, claim: ClaimRequest) -> Request:
        """2. Pure: equal claims give equal requests. What `windlass render` prints."""

    def submit(self, request: Request) -> Handle:
        """3. Idempotent on the claim id: a second submit returns the same handle and starts
        nothing. MachineTooSmall or EngineRejected when it can never run."""

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """4. Answers for every handle it was given, in one look; never raises for one bad
        handle."""

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """5. Idempotent; returns before it is gone. Ranks get their notice unless `now`.
        Reaches every process of the claim, also those that left its process group."""

    def owned(self) -> Sequence[Owned]:
        """6. Everything that carries our label, also what the store has never heard of."""


@runtime_checkable
class Admits(Protocol):
    """An engine that knows at submit time whether a claim can ever run there."""

    def admit(self, claim: ClaimRequest) -> None:
        """7. Raises MachineTooSmall, with what is there and what is needed, and starts nothing."""


@runtime_checkable
class Explains(Protocol):
    """An engine that can tell what it has to offer, for `windlass doctor`."""

    def inventory(self) -> Mapping[str, str]:
        """8. Named facts in plain words, in the order to show them."""


@runtime_checkable
class Forgets(Protocol):
    """An engine that keeps something of a run after its end, until the run is removed."""

    def forget(self, run: str, claims: Sequence[str]) -> None:
        """9. Remove what is left of an ended run. Idempotent."""


@runtime_checkable
class KeepsSecrets(Protocol):
    """An engine whose nodes read the values of secrets for themselves, where its cloud keeps them.
    Others get what the caller's environment has."""

    def check_secrets(self, secrets: Mapping[str, str]) -> None:
        """14. Raises SecretMissing for those that are not there, as far as the caller may look."""


@runtime_checkable
class StreamsLogs(Protocol):
    """An engine that can tell what happens before agents are up, by a log service, a console or
    the state of machines; what comes after is in the run's folder."""

    def early_lines(self, handle: Handle, *, most: int) -> Sequence[str]:
        """13. The last lines about a claim, the oldest first; empty when there are none."""
