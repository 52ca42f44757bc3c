"""The store does what a few dictionaries would do, whatever the order of calls.

Must not look into the store: only what its protocol shows is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from builders import make_attempt, make_claim, make_event, make_run
from windlass.errors import LeaseLost, PhaseIllegal, RunChanged, RunNotReady, RunUnknown
from windlass.state.model import Attempt, Change, Claim, Lease, Run
from windlass.state.open_store import open_store
from windlass.state.phases import (
    ATTEMPT_MOVES,
    CLAIM_MOVES,
    RUN_MOVES,
    AttemptPhase,
    ClaimPhase,
    RunPhase,
    Wanted,
    is_ended,
)

IDS = ("a", "ab", "b")
TIMES = st.sampled_from([1.0, 2.0, 3.0])


@dataclass
class Model:
    """A store without a database."""

    runs: dict[str, Run] = field(default_factory=dict)
    attempts: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    claims: dict[tuple[str, int, int], Claim] = field(default_factory=dict)
    events: list[tuple[str, str]] = field(default_factory=list)
    holder: str = ""
    epoch: int = 0
    expires_at: float = 0.0

    def refusal(self, lease: Lease, change: Change) -> type[Exception] | None:
        """Why a write is refused, if it is."""
        run = self.runs.get(change.run.id)
        if (lease.holder, lease.epoch) != (self.holder, self.epoch):
            return LeaseLost
        if run is None or run.version != change.run.version:
            return RunChanged
        moves = [(RUN_MOVES, run.phase, change.run.phase)]
        for attempt in change.attempts:
            old = self.attempts.get((attempt.run, attempt.number), attempt)
            moves.append((ATTEMPT_MOVES, old.phase, attempt.phase))
        for claim in change.claims:
            old = self.claims.get((claim.run, claim.attempt, claim.index), claim)
            moves.append((CLAIM_MOVES, old.phase, claim.phase))
        is_legal = all(old == new or new in table[old] for table, old, new in moves)
        return None if is_legal else PhaseIllegal

    def apply(self, change: Change) -> Run:
        run = self.runs[change.run.id] = replace(change.run, version=change.run.version + 1)
        self.attempts.update({(a.run, a.number): a for a in change.attempts})
        self.claims.update({(c.run, c.attempt, c.index): c for c in change.claims})
        self.events += [(event.run, event.code) for event in change.events]
        return run

    def forget(self, run_id: str) -> None:
        del self.runs[run_id]
        self.attempts = {key: a for key, a in self.attempts.items() if a.run != run_id}
        self.claims = {key: c for key, c in self.claims.items() if c.run != run_id}
        self.events = [event for event in self.events if event[0] != run_id]


class StoreMachine(RuleBasedStateMachine):
    """Calls store and model alike and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.store = open_store("sqlite://:memory:")
        self.model = Model()
        self.leases = [Lease(holder="nobody", epoch=0, expires_at=0.0)]
        self.take("c1", 1.0)

    def teardown(self) -> None:
        self.store.close()

    def refused(self, error: type[Exception] | None, call):
        """Call it, expecting this error; what it returns when there is none."""
        if error is None:
            return call()
        with pytest.raises(error):
            call()
        return None

    @rule(run_id=st.sampled_from(IDS), name=st.sampled_from(["a", "Größe"]), at=TIMES)
    def add(self, run_id, name, at):
        run = make_run(run_id, name=name, created_at=at)
        error = RunChanged if run_id in self.model.runs else None
        self.refused(error, lambda: self.store.add_run(run, make_event(run_id, "added")))
        if error is None:
            self.model.runs[run_id] = run
            self.model.events.append((run_id, "added"))

    @rule(run_id=st.sampled_from(IDS), wanted=st.sampled_from(Wanted))
    def want(self, run_id, wanted):
        run = self.model.runs.get(run_id)
        event = make_event(run_id, wanted)
        error = RunUnknown if run is None else None
        changed = self.refused(error, lambda: self.store.want(run_id, wanted, event))
        if run is not None:
            kept = Wanted.KILL if (run.wanted, wanted) == (Wanted.KILL, Wanted.STOP) else wanted
            expected = self.model.apply(Change(run=replace(run, wanted=kept), events=(event,)))
            assert changed == expected

    @precondition(lambda self: self.model.runs)
    @rule(data=st.data(), is_stale=st.booleans())
    def requeue(self, data, is_stale):
        run = self.model.runs[data.draw(st.sampled_from(sorted(self.model.runs)))]
        given = replace(run, version=run.version - is_stale, reason="Again.")
        event = make_event(run.id, "requeued")
        is_legal = is_ended(run.phase) and run.phase is not RunPhase.SUCCEEDED
        error = RunChanged if is_stale else None if is_legal else PhaseIllegal
        changed = self.refused(error, lambda: self.store.requeue(given, event))
        if error is None:
            queued = replace(given, phase=RunPhase.QUEUED)
            assert changed == self.model.apply(Change(run=queued, events=(event,)))

    @rule(run_id=st.sampled_from(IDS))
    def delete(self, run_id):
        run = self.model.runs.get(run_id)
        error = RunUnknown if run is None else None if is_ended(run.phase) else RunNotReady
        self.refused(error, lambda: self.store.delete_run(run_id))
        if error is None:
            self.model.forget(run_id)

    @rule(holder=st.sampled_from(["c1", "c2"]), now=TIMES)
    def take_lease(self, holder, now):
        self.take(holder, now)

    def take(self, holder: str, now: float) -> None:
        model = self.model
        is_free = model.holder in ("", holder) or model.expires_at <= now
        lease = self.store.take_lease(holder, now=now, ttl_s=1.0)
        assert (lease is not None) == is_free
        if lease is not None:
            model.holder, model.epoch, model.expires_at = holder, model.epoch + 1, now + 1.0
            assert lease == Lease(holder=holder, epoch=model.epoch, expires_at=now + 1.0)
            self.leases.append(lease)

    @rule(data=st.data(), now=TIMES, is_release=st.booleans())
    def renew_or_release(self, data, now, is_release):
        lease = data.draw(st.sampled_from(self.leases[-3:]))
        is_ours = (lease.holder, lease.epoch) == (self.model.holder, self.model.epoch)
        if is_release:
            self.store.release_lease(lease)
            if is_ours:
                self.model.holder, self.model.expires_at = "", 0.0
            return
        error = None if is_ours else LeaseLost
        self.refused(error, lambda: self.store.renew_lease(lease, now=now, ttl_s=2.0))
        if is_ours:
            self.model.expires_at = now + 2.0

    @precondition(lambda self: self.model.runs)
    @rule(data=st.data(), kind=st.sampled_from(["good"] * 6 + ["stale", "wild", "old lease"]))
    def write(self, data, kind):
        model = self.model
        run = model.runs[data.draw(st.sampled_from(sorted(model.runs)))]

        def moved(table, old):
            phases = sorted({old, *table[old]}) if old and kind != "wild" else list(table)
            return data.draw(st.sampled_from(phases))

        number = data.draw(st.integers(1, 3))
        attempt = model.attempts.get((run.id, number))
        attempt = make_attempt(
            run.id, number, phase=moved(ATTEMPT_MOVES, attempt and attempt.phase)
        )
        claims = []
        for index in range(data.draw(st.integers(0, 2))):
            claim = model.claims.get((run.id, number, index))
            phase = moved(CLAIM_MOVES, claim and claim.phase)
            claims.append(make_claim(run.id, number, index, phase=phase))
        change = Change(
            run=replace(
                run,
                phase=moved(RUN_MOVES, run.phase),
                attempt=max(run.attempt, number),
                version=run.version - (kind == "stale"),
            ),
            attempts=(attempt,),
            claims=tuple(claims),
            events=(make_event(run.id, "written"),),
        )
        lease = self.leases[0 if kind == "old lease" else -1]
        error = model.refusal(lease, change)
        written = self.refused(error, lambda: self.store.write(lease, change))
        if error is None:
            assert written == model.apply(change)

    @invariant()
    def shows_the_same(self):
        model = self.model
        newest_first = sorted(
            model.runs.values(), key=lambda run: (run.created_at, run.id), reverse=True
        )
        assert self.store.list_runs() == newest_first
        for run_id in IDS:
            assert self.store.get_run(run_id) == model.runs.get(run_id)
            attempts = [
                a
                for _, a in sorted(model.attempts.items())
                if a.run == run_id and a.phase is not AttemptPhase.HELD
            ]
            assert self.store.list_attempts(run_id) == attempts
            claims = [c for _, c in sorted(model.claims.items()) if c.run == run_id]
            assert self.store.list_claims(run_id) == claims
            events = [(event.run, event.code) for event in self.store.list_events(run_id)]
            assert events == [event for event in model.events if event[0] == run_id]
        live = [run for run in reversed(newest_first) if not is_ended(run.phase)]
        assert [state.run for state in self.store.live()] == live
        for state in self.store.live():
            run = state.run
            assert state.attempt == model.attempts.get((run.id, run.attempt))
            assert list(state.claims) == [
                claim
                for _, claim in sorted(model.claims.items())
                if claim.run == run.id
                and (claim.phase is not ClaimPhase.GONE or claim.attempt >= run.attempt)
            ]


StoreMachine.TestCase.settings = settings(stateful_step_count=25)
TestStoreModel = StoreMachine.TestCase
