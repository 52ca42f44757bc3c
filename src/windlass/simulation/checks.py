"""What must be true after every event, and what must be true at the end.

Must not look at anything the controller believes but the store: the world is asked itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from windlass.policy.budget import race_cap_usd
from windlass.policy.meter import HOUR_S, TICK_S
from windlass.policy.totals import usd_since
from windlass.simulation.gang import Training
from windlass.simulation.provider import Provider
from windlass.spec.canonical import from_json
from windlass.state.model import Attempt, Run
from windlass.state.phases import Outcome, RunPhase, Wanted, is_ended

ROUNDING = 0.05
"""Of a tick: what counts of the same dollars may differ by."""
OVERTIME_S = 420.0
"""Other workers of a slice wait for the first to end it, and whatever is told to end may take its
time."""
STARTED_AGAIN = (Outcome.LOST, Outcome.PREEMPTED, Outcome.REFUSED, Outcome.MOVED)
HANDOVER_S = 120.0
"""How long it takes at most, where nothing goes wrong, until a gang that was moved works again."""


class Bill(NamedTuple):
    """What a run with a budget has cost in the end."""

    code: str
    """Why it ended."""
    budget_usd: float
    usd: float
    usd_per_h: float
    """Its dearest claim."""
    attempts: int
    kept_usd: float
    """What may have been kept for a move from spot, at most."""


class Checks:
    """Raises AssertionError with a sentence when a promise is broken."""

    def __init__(
        self,
        store: Any,
        provider: Provider,
        trainings: dict[str, Training],
        *,
        now: Callable[[], float],
        calm_from: float,
    ) -> None:
        self._now = now
        self._store = store
        self._calm_from = calm_from
        self._provider = provider
        self._trainings = trainings

    def after_event(self) -> None:
        """Never two claims of a run with live ranks, nor two starts of one claim."""
        live: dict[str, str] = {}
        for gang in self._provider.gangs:
            if not gang.has_live_ranks:
                continue
            assert not gang.has_twins, f"a node of {gang.claim} has ranks on two machines"
            run = gang.claim.rsplit("-", 2)[0]
            assert run not in live, f"two live gangs of {run}: {live[run]} and {gang.claim}"
            live[run] = gang.claim

    def each_minute(self) -> None:
        """No machine outlives what its claim was given, whoever has forgotten it."""
        known = {
            claim.id: claim for run in self._trainings for claim in self._store.list_claims(run)
        }
        for claim_id, since in self._provider.paid_for():
            claim = known[claim_id]
            if claim.expires_at is None:
                continue
            # Engines count from when a machine came, or from when it was asked for.
            until = max(claim.expires_at, since + claim.expires_at - claim.created_at)
            assert self._now() <= until + OVERTIME_S, f"{claim_id} outlives its own end"

    def is_all_over(self) -> bool:
        """Every run has ended and the engine holds nothing."""
        runs = [self._store.get_run(run) for run in self._trainings]
        return all(is_ended(run.phase) for run in runs) and not self._provider.left()

    def at_the_end(self) -> list[str]:
        """What is wrong now that faults have stopped long ago."""
        failures = [
            f"{gang.claim} still has machines"
            for gang in self._provider.gangs
            if any(machine.is_up for machine in gang.machines)
        ]
        failures += [f"nobody wants this: {what}" for what in self._provider.left()]
        for run_id, training in self._trainings.items():
            failures += self._check_run(run_id, training)
        return failures

    def bills(self) -> dict[str, Bill]:
        """What each run with a budget has cost."""
        found = {}
        for run_id in self._trainings:
            run = self._store.get_run(run_id)
            limits = from_json(run.spec).limits
            budget_usd = limits.budget_usd
            if budget_usd is not None:
                claims = self._store.list_claims(run_id)
                found[run_id] = Bill(
                    code=run.code,
                    budget_usd=budget_usd,
                    usd=self._provider.billed_usd(run_id),
                    usd_per_h=max((claim.usd_per_h for claim in claims), default=0.0),
                    attempts=run.attempt,
                    kept_usd=0.0 if limits.deadline_s is None else race_cap_usd(budget_usd),
                )
        return found

    def history(self) -> list[str]:
        """Every event of every run, for the trace."""
        return [
            f"{event.run} {event.attempt} at {event.at:.3f} {event.code}: {event.message}"
            for run in self._trainings
            for event in self._store.list_events(run)
        ]

    def _check_run(self, run_id: str, training: Training) -> list[str]:
        run = self._store.get_run(run_id)
        attempts = self._store.list_attempts(run_id)
        if not is_ended(run.phase):
            return [f"{run_id} did not end: {run.phase} ({run.code}: {run.reason})"]
        failures = []
        expected = RunPhase.FAILED if training.fails_at is not None else RunPhase.SUCCEEDED
        is_stopped = run.phase is RunPhase.STOPPED and run.code in ("budget", "ttl")
        if run.phase is not expected and run.wanted is Wanted.RUN and not is_stopped:
            failures.append(f"{run_id} is {run.phase} and should be {expected}: {run.reason}")
        if run.phase is RunPhase.SUCCEEDED and training.finished == 0:
            failures.append(f"{run_id} succeeded without finishing")
        for attempt in attempts[:-1]:
            if attempt.outcome not in STARTED_AGAIN:
                failures.append(f"{run_id} was started again after {attempt.outcome}")
        losses = sum(one.outcome in (Outcome.LOST, Outcome.PREEMPTED) for one in attempts)
        if run.restarts > losses:
            failures.append(f"{run_id} counts {run.restarts} restarts after {losses} losses")
        failures += self._check_money(run)
        failures += self._check_moves(run, attempts, training)
        steps = [step for _, step in training.starts]
        if steps != sorted(steps):
            failures.append(f"{run_id} resumed from an older checkpoint: {steps}")
        claims = [claim for claim, _ in training.starts]
        if len(claims) != len(set(claims)):
            failures.append(f"{run_id} started a claim twice: {claims}")
        return failures

    def late_s(self) -> dict[str, float]:
        """By how much each run with a deadline that succeeded was late."""
        found = {}
        for run_id in self._trainings:
            run = self._store.get_run(run_id)
            deadline_s = from_json(run.spec).limits.deadline_s
            if deadline_s is not None and run.phase is RunPhase.SUCCEEDED:
                found[run_id] = run.ended_at - run.created_at - deadline_s
        return found

    def moves(self) -> list[Attempt]:
        """Every attempt that was left for on-demand."""
        attempts = (one for run in self._trainings for one in self._store.list_attempts(run))
        return [one for one in attempts if one.outcome is Outcome.MOVED]

    def _check_moves(self, run: Run, attempts: Sequence[Attempt], training: Training) -> list[str]:
        """What is left is spot, what it is left for on-demand. Where nothing went wrong since, and
        there was time, the deadline is kept."""
        buys = {claim.id: claim.buy for claim in self._store.list_claims(run.id)}
        failures = []
        for left, then in zip(attempts, attempts[1:], strict=False):
            if left.outcome is not Outcome.MOVED:
                continue
            if buys[left.winner] != "spot" or buys.get(then.winner, "on-demand") != "on-demand":
                failures.append(f"{run.id} moved from {left.winner} to {then.winner}")
            if then.outcome is Outcome.SUCCEEDED:
                failures += self._check_deadline(run, left, then, training)
        return failures

    def _check_deadline(
        self, run: Run, left: Attempt, then: Attempt, training: Training
    ) -> list[str]:
        assert left.ended_at is not None and run.ended_at is not None
        from_step = dict(training.starts)[then.winner]
        work_s = (training.steps - from_step) * training.step_s
        late_s = self.late_s()[run.id]
        had_s = run.ended_at - late_s - left.ended_at
        is_calm = left.ended_at >= self._calm_from
        if is_calm and had_s >= work_s + HANDOVER_S and late_s > 0:
            return [f"{run.id} missed its deadline by {late_s:.0f} s, {had_s:.0f} s after a move"]
        return []

    def _check_money(self, run: Run) -> list[str]:
        """Spending ends within the budget and one tick, and the store knows of all of it."""
        billed = self._provider.billed_usd(run.id)
        claims = self._store.list_claims(run.id)
        tick = max((claim.usd_per_h for claim in claims), default=0.0) * TICK_S / HOUR_S
        slack = tick * ROUNDING
        failures = []
        budget = from_json(run.spec).limits.budget_usd
        if budget is not None and billed > budget + tick + slack:
            failures.append(f"{run.id} has cost {billed:.4f} USD; its budget was {budget:.4f}")
        if run.spent_usd < billed - tick - slack:
            failures.append(f"{run.id} has cost {billed:.4f} USD, and counts {run.spent_usd:.4f}")
        charged = sum(usd_since(one, now=0.0) for one in self._store.charges(run_id=run.id))
        if abs(charged - run.spent_usd) > slack + 1e-6:
            failures.append(f"{run.id} is charged {charged:.4f} USD, not {run.spent_usd:.4f}")
        return failures
