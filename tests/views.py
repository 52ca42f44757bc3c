"""Views of a run for decision tests: a fluent builder over what decide() looks at."""

from __future__ import annotations

from dataclasses import replace

from builders import make_attempt, make_claim, make_run
from windlass.controller.view import (
    ClaimView,
    GangEnd,
    Measured,
    NodeExit,
    NodeView,
    Notice,
    View,
    Wishes,
)
from windlass.engines.base import Limits, Observation, Seen
from windlass.state.model import RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase

NOW = 10_000.0
LIMITS = Limits(nodes_max=8, start_timeout_s=100.0, stale_s=10.0, notice_s=30.0)
BEATING = NodeView(beat_age_s=1.0, state="running", exit=None)
NOTICE = Notice(node=1, seconds=30.0, reason="the machine was preempted")
SILENT = NodeView(beat_age_s=None, state="", exit=None)


def left(outcome="succeeded", *, status=0, had_notice=False, reason="because", rank=None):
    """A node that has written its exit."""
    exit_ = NodeExit(
        outcome=outcome, status=status, rank=rank, reason=reason, had_notice=had_notice
    )
    return NodeView(beat_age_s=None, state="done", exit=exit_)


def ended(status=1, *, outcome="user-error", node=0, rank=0, reason="rank 0 exited with status 1"):
    """The first failure of a gang."""
    return GangEnd(node=node, rank=rank, status=status, outcome=outcome, reason=reason)


class ViewOf:
    """`ViewOf().running().nodes(BEATING, left()).view()`"""

    def __init__(self, **run):
        self._run = make_run(created_at=NOW - 100.0, **run)
        self._attempt = None
        self._claims = []
        self._winner = None
        self._restarts_max = 3
        self._limits = LIMITS
        self._more = {}

    def starting(self, *, claim=ClaimPhase.SUBMITTED, **attempt):
        return self._with_attempt(RunPhase.STARTING, AttemptPhase.STARTING, claim, **attempt)

    def running(self, **attempt):
        self._with_attempt(
            RunPhase.RUNNING,
            AttemptPhase.RUNNING,
            ClaimPhase.SUBMITTED,
            **{"started_at": NOW - 50.0, **attempt},
        )
        return self.winner("r-1-0").nodes(BEATING, BEATING)

    def ending(self, *, run=RunPhase.QUEUED, claim=ClaimPhase.CANCELLING, **attempt):
        return self._with_attempt(run, AttemptPhase.ENDING, claim, **attempt)

    def over(self, *, run=RunPhase.QUEUED, **attempt):
        self._with_attempt(run, AttemptPhase.ENDED, ClaimPhase.GONE, **attempt)
        self._claims = []
        return self

    def _with_attempt(self, phase, attempt_phase, claim_phase, **attempt):
        self._run = replace(self._run, phase=phase, attempt=1)
        self._attempt = make_attempt(phase=attempt_phase, created_at=NOW - 60.0, **attempt)
        handle = "" if claim_phase is ClaimPhase.ASKED else "h"
        self._claims = [
            ClaimView(
                claim=make_claim(phase=claim_phase, handle=handle),
                handle=handle,
                observation=Observation(seen=Seen.RUNNING),
                gone_for_s=None,
                missing_for_s=0.0,
                up_for_s=60.0,
                nodes=(SILENT, SILENT),
                end=None,
            )
        ]
        return self

    def with_claims_of(self, other):
        self._claims = other._claims
        return self

    def run(self, **changes):
        self._run = replace(self._run, **changes)
        return self

    def restarts_max(self, count):
        self._restarts_max = count
        return self

    def winner(self, winner):
        self._winner = winner
        return self

    def nodes(self, *nodes):
        return self.seen(nodes=tuple(nodes))

    def seen(self, **changes):
        self._claims = [replace(claim, **changes) for claim in self._claims]
        return self

    def claim(self, **changes):
        self._claims = [
            replace(seen, claim=replace(seen.claim, **changes)) for seen in self._claims
        ]
        return self

    def gone(self, seconds=60.0):
        return self.seen(observation=Observation(seen=Seen.GONE), gone_for_s=seconds)

    def missing(self, *nodes, seconds=60.0):
        observation = Observation(seen=Seen.RUNNING, missing=nodes)
        return self.seen(observation=observation, missing_for_s=seconds)

    def rented(self, *gangs, measured=None, **wishes):
        """What may be rented, best first, and what the spec says about it."""
        self._more = {
            "gangs": gangs,
            "wishes": Wishes(**wishes),
            "measured": measured or Measured(),
        }
        return self.claim(offer=gangs[0].offer, buy=gangs[0].buy, usd_per_h=gangs[0].usd_per_h)

    def racing(self, *gangs):
        """One claim of the attempt for each of these."""
        [first] = self._claims[:1]
        self._claims = [
            replace(
                first,
                claim=replace(
                    first.claim,
                    id=f"r-1-{index}",
                    index=index,
                    offer=gang.offer,
                    buy=gang.buy,
                    usd_per_h=gang.usd_per_h,
                ),
            )
            for index, gang in enumerate(gangs)
        ]
        return self

    def spare(self, gang, index=0, **claim):
        """One more claim, of the attempt after the newest: its nodes beat and wait."""
        [first] = self._claims[:1]
        number = self._run.attempt + 1
        made = make_claim(
            id=f"r-{number}-{index}",
            attempt=number,
            index=index,
            handle=f"h{index}",
            offer=gang.offer,
            buy=gang.buy,
            usd_per_h=gang.usd_per_h,
            **{"phase": ClaimPhase.SUBMITTED, **claim},
        )
        waiting = NodeView(beat_age_s=1.0, state="waiting", exit=None)
        up = replace(first, claim=made, handle=made.handle, nodes=(waiting, waiting), end=None)
        self._claims.append(replace(up, observation=Observation(seen=Seen.RUNNING)))
        return self

    def one(self, index, claim=None, **changes):
        """Only one of the claims looks otherwise."""
        seen = self._claims[index]
        changed = replace(seen.claim, **(claim or {}))
        self._claims[index] = replace(seen, claim=changed, **changes)
        return self

    def view(self):
        claims = tuple(seen.claim for seen in self._claims)
        return View(
            state=RunState(run=self._run, attempt=self._attempt, claims=claims),
            limits=self._limits,
            restarts_max=self._restarts_max,
            winner=self._winner,
            claims=tuple(self._claims),
            **self._more,
        )
