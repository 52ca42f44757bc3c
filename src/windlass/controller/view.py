"""Everything a decision may look at: the store's rows, the engine's sightings, the run folder.

Must not look itself (observe.py does): frozen values only. Ages are seconds by a steady clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from windlass.controller.renting import Gang
from windlass.engines.base import Limits, Observation
from windlass.state.model import Claim, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the spec says about renting."""

    race: int = 1
    budget_usd: float | None = None
    deadline_s: float | None = None
    team: str = ""
    env: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What ranks have reported of their own work."""

    save_s: float | None = None
    """How long the newest save took."""
    saved_share: float = 0.0
    """How much of the work the newest checkpoint holds."""
    done_share: float | None = None
    """How much of it was done when ranks last said so; None when they never did."""
    saved_step: int | None = None
    """The newest checkpoint's, once an attempt has ended that the next one follows."""
    steps_lost: int = 0
    """How many steps that attempt had done after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeExit:
    """What a node said when its last rank had ended."""

    outcome: str
    status: int
    rank: int | None
    reason: str
    had_notice: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node of a claim, as its objects in the run folder show it."""

    beat_age_s: float | None
    """Since its newest heartbeat was first seen; None when it never beat."""
    state: str
    """What the agent says it is doing."""
    exit: NodeExit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GangEnd:
    """The first failure of a gang."""

    node: int
    rank: int | None
    status: int
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a gang was told before its machines were taken away."""

    node: int | None = None
    """Whose machine said so first."""
    seconds: float | None = None
    """How long before."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """One claim that is not gone yet."""

    claim: Claim
    handle: str
    """As recorded, or as found among what the engine owns; empty when it has none."""
    observation: Observation
    gone_for_s: float | None
    """How long the engine has been saying GONE without a break."""
    missing_for_s: float
    """How long the engine has been missing nodes without a break."""
    up_for_s: float
    """How long the engine has been saying RUNNING without a break."""
    nodes: tuple[NodeView, ...]
    end: GangEnd | None
    notice: Notice | None = None
    """There is one when any node of it was told that it will be taken away."""
    trouble: str = ""
    """Why its engine cannot be asked about it until somebody mends that; empty when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What `decide` decides on."""

    state: RunState
    limits: Limits
    restarts_max: int
    winner: str | None
    """The claim named by the newest attempt's fence; "" when it was given up; None before."""
    claims: tuple[ClaimView, ...]
    gangs: tuple[Gang, ...] = (Gang(),)
    """What may be asked for, best first; one that rents nothing where nothing is rented."""
    wishes: Wishes = Wishes()
    measured: Measured = Measured()

    @property
    def is_rented(self) -> bool:
        """Whether machines are rented for it."""
        return bool(self.gangs[0].offer)

    def gang_of(self, claim: Claim) -> Gang:
        """What the claim is for, as the run knows it."""
        known = (gang for gang in self.gangs if (gang.offer, gang.buy) == (claim.offer, claim.buy))
        return next(known, Gang(offer=claim.offer, buy=claim.buy, usd_per_h=claim.usd_per_h))
