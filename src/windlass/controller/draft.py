"""A decision in the making: collects new rows, events and effects, and the earliest wake-up.

Must not decide: decide.py calls it. Pure: the caller's values are never changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from windlass.controller.effects import Decision, Effect
from windlass.controller.offers import Market, market_of, market_text
from windlass.controller.renting import Gang
from windlass.controller.view import View
from windlass.state.model import Attempt, Change, Charge, Claim, Event, Run
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase


class Draft:
    """What one step will write and do."""

    def __init__(self, view: View, now: float) -> None:
        self.now = now
        self.run: Run = view.state.run
        self.attempt: Attempt | None = view.state.attempt
        self._held: Attempt | None = None
        self._claims: dict[str, Claim] = {claim.id: claim for claim in view.state.claims}
        self._before = (self.run, self.attempt, dict(self._claims))
        self._market: Market | None = None
        self._charges: list[Charge] = []
        self._events: list[Event] = []
        self._effects: list[Effect] = []
        self._wakes: list[float] = []

    def claim(self, claim_id: str) -> Claim:
        """The claim as it will be written."""
        return self._claims[claim_id]

    def open_claims(self) -> list[Claim]:
        """Every claim that is not gone."""
        return [claim for claim in self._claims.values() if claim.phase is not ClaimPhase.GONE]

    def claims_of(self, attempt: int) -> list[Claim]:
        """Every claim of an attempt that is known, gone or not."""
        return [claim for claim in self._claims.values() if claim.attempt == attempt]

    @property
    def market(self) -> Market:
        """What the run has learnt while renting, as it will be written."""
        if self._market is None:
            self._market = market_of(self.run.market)
        return self._market

    def set_market(self, market: Market) -> None:
        """Remember what was learnt."""
        self._market = market
        self.set_run(market=market_text(market))

    def charge(self, charge: Charge) -> None:
        """Note what machines cost."""
        self._charges.append(charge)

    def set_run(self, **changes: Any) -> None:
        """Change fields of the run."""
        self.run = replace(self.run, **changes)

    def move_run(self, phase: RunPhase, code: str, reason: str) -> None:
        """Put the run into a phase, say why, and keep it as an event."""
        if (self.run.phase, self.run.code, self.run.reason) == (phase, code, reason):
            return
        self.set_run(phase=phase, code=code, reason=reason)
        self.event(code or str(phase), reason, phase=str(phase))

    def set_attempt(self, **changes: Any) -> None:
        """Change fields of the newest attempt."""
        assert self.attempt is not None
        self.attempt = replace(self.attempt, **changes)

    def add_attempt(self) -> None:
        """Begin the next attempt, which has no claims yet, and count it in the run."""
        number = self.run.attempt + 1
        self.attempt = Attempt(
            run=self.run.id, number=number, phase=AttemptPhase.STARTING, created_at=self.now
        )
        self.set_run(attempt=number)

    def add_spare(self, gang: Gang, *, expires_at: float | None) -> None:
        """One more claim of the attempt after the newest, which is held until that is over."""
        number = self.run.attempt + 1
        if not self.claims_of(number):
            self._held = Attempt(
                run=self.run.id, number=number, phase=AttemptPhase.HELD, created_at=self.now
            )
        self._add_claim(gang, number, expires_at=expires_at)

    def add_claim(self, gang: Gang, *, expires_at: float | None) -> None:
        """One more claim of the newest attempt."""
        self._add_claim(gang, self.run.attempt, expires_at=expires_at)

    def _add_claim(self, gang: Gang, number: int, *, expires_at: float | None) -> None:
        index = len(self.claims_of(number))
        claim = Claim(
            id=f"{self.run.id}-{number}-{index}",
            run=self.run.id,
            attempt=number,
            index=index,
            engine=gang.engine or self.run.engine,
            phase=ClaimPhase.ASKED,
            created_at=self.now,
            offer=gang.offer,
            buy=gang.buy,
            accelerators=gang.accelerators,
            nodes=gang.nodes,
            usd_per_h=gang.usd_per_h,
            expires_at=expires_at,
        )
        self._claims[claim.id] = claim

    def set_claim(self, claim_id: str, **changes: Any) -> None:
        """Change fields of a claim."""
        self._claims[claim_id] = replace(self._claims[claim_id], **changes)

    def event(self, code: str, message: str, /, **details: Any) -> None:
        """Remember that something happened."""
        self._events.append(
            Event(
                run=self.run.id,
                attempt=self.run.attempt,
                at=self.now,
                code=code,
                message=message,
                details=details,
            )
        )

    def effect(self, effect: Effect) -> None:
        """Ask for something to be done after the write."""
        self._effects.append(effect)

    def wake(self, at: float) -> None:
        """Ask to be looked at again at this time, whatever happens before."""
        self._wakes.append(at)

    def decision(self) -> Decision:
        """Everything collected, with only the rows that changed."""
        run, attempt, claims = self._before
        changed_attempts = tuple(
            one for one in (self.attempt, self._held) if one is not None and one != attempt
        )
        changed_claims = tuple(
            claim for claim in self._claims.values() if claims.get(claim.id) != claim
        )
        rows = (changed_attempts, changed_claims, self._events, self._charges)
        has_changed = self.run != run or any(rows)
        change = Change(
            run=self.run,
            attempts=changed_attempts,
            claims=changed_claims,
            events=tuple(self._events),
            charges=tuple(self._charges),
        )
        return Decision(
            change=change if has_changed else None,
            effects=tuple(self._effects),
            wake_at=min(self._wakes, default=None),
        )
