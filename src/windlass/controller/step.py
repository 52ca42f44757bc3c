"""One step of one run: decide, one fenced write, then the effects.

Must not loop or wait (loop.py does) and must not decide (decide.py does).
"""

from __future__ import annotations

import json
from dataclasses import replace

from windlass.agent import layout
from windlass.controller.decide import decide
from windlass.controller.early import EarlyKeeper
from windlass.controller.effects import Cancel, Decision, Effect, GiveUp, KeepEarly, Open, Submit
from windlass.controller.observe import Observer
from windlass.controller.progress import read_newest_records
from windlass.controller.report import step_s_of
from windlass.controller.request import claim_order, claim_request
from windlass.controller.results import refused, taken
from windlass.controller.site import Site
from windlass.controller.view import View
from windlass.engines.base import Handle, Limits
from windlass.errors import (
    CapacityError,
    EngineError,
    EngineTransient,
    SetupError,
    UserError,
)
from windlass.state.model import Attempt, Change, Lease, RunState
from windlass.state.phases import AttemptPhase, ClaimPhase

HANDOVER_S = 180.0
"""How long a gang may take to save and leave, and a controller to notice: machines that are held
for what follows it wait so much longer than for each other, and then leave by themselves."""


class Stepper:
    """Carries decisions out, intent first."""

    def __init__(self, site: Site, observer: Observer) -> None:
        self._site = site
        self._observer = observer
        self._early = EarlyKeeper(site.world.clock)

    def step(self, lease: Lease, view: View) -> tuple[RunState, Decision]:
        """Decide and carry out; returns the run as it stands now.

        LeaseLost and RunChanged come from the write, before any effect.
        """
        decision = decide(view, self._site.world.clock.now())
        state = view.state
        if decision.change is not None:
            state = self._write(lease, state, self._measured(decision.change))
        for effect in decision.effects:
            state = self._carry_out(lease, state, effect)
        return state, decision

    def _write(self, lease: Lease, state: RunState, change: Change) -> RunState:
        run = self._site.store.write(lease, change)
        return applied(state, replace(change, run=run))

    def _measured(self, change: Change) -> Change:
        """The change, with what ended attempts say of the time of a step.

        Looked for once, when nothing can be added any more. It decides nothing, so that a folder
        that cannot be read costs no more than this figure.
        """
        return replace(change, attempts=tuple(map(self._with_pace, change.attempts)))

    def _with_pace(self, attempt: Attempt) -> Attempt:
        if attempt.phase is not AttemptPhase.ENDED or not attempt.winner:
            return attempt
        try:
            records = read_newest_records(self._observer.folder(attempt.run), attempt.number)
        except OSError:
            return attempt
        return replace(attempt, step_s=step_s_of(records))

    def _carry_out(self, lease: Lease, state: RunState, effect: Effect) -> RunState:
        match effect:
            case Submit():
                return self._submit(lease, state, effect)
            case GiveUp():
                self._give_up(state, effect)
            case Open():
                self._open(state, effect)
            case Cancel():
                self._cancel(state, effect)
            case KeepEarly():
                self._keep_early(state, effect)
        return state

    def _submit(self, lease: Lease, state: RunState, effect: Submit) -> RunState:
        claim = effect.claim
        engine = self._site.engine(claim.engine)
        facts = self._observer.facts(state)
        url = self._site.folder_url(claim.run)
        try:
            self._leave_order(state, effect, limits=engine.limits())
            handle = engine.submit(engine.render(claim_request(facts, claim, folder=url)))
        except (EngineError, CapacityError, SetupError, UserError) as error:
            # A UserError: the configuration was changed since the run was submitted.
            now = self._site.world.clock.now()
            return self._write(lease, state, refused(state, claim, error, now=now))
        return self._write(lease, state, taken(state, claim, handle))

    def _leave_order(self, state: RunState, effect: Submit, *, limits: Limits) -> None:
        """Tell the agents of the claim what to do, where they will look for it."""
        claim = effect.claim
        url = self._site.folder_url(claim.run)
        is_held = claim.attempt > state.run.attempt
        order = claim_order(
            self._observer.facts(state),
            claim,
            folder=url,
            notice_s=limits.notice_s,
            held_s=limits.start_timeout_s + HANDOVER_S if is_held else 0.0,
        )
        name = layout.claim_file(claim.attempt, claim.id)
        try:
            self._observer.folder(claim.run).write(name, json.dumps(order, indent=1).encode())
        except OSError as error:
            raise EngineTransient(
                f"the run folder cannot be written: {error}",
                remedy="Free some space or mend the folder; the run goes on by itself.",
            ) from error

    def _give_up(self, state: RunState, effect: GiveUp) -> None:
        name = layout.winner(effect.attempt)
        said = json.dumps({"claim": None, "reason": "given up by the controller"}).encode()
        try:
            self._observer.folder(state.run.id).create(name, said)
        except OSError:
            return  # The next step sees that the fence is still free and tries again.

    def _open(self, state: RunState, effect: Open) -> None:
        said = json.dumps({"claims": effect.claims}).encode()
        try:
            self._observer.folder(state.run.id).create(layout.opened(effect.attempt), said)
        except OSError:
            return  # The next step sees that nobody has won and tries again.

    def _keep_early(self, state: RunState, effect: KeepEarly) -> None:
        claim = next(claim for claim in state.claims if claim.id == effect.claim)
        folder, engine = self._observer.folder(claim.run), self._site.engine(claim.engine)
        self._early.keep(folder, engine, claim, handle=effect.handle)

    def _cancel(self, state: RunState, effect: Cancel) -> None:
        claim = next(claim for claim in state.claims if claim.id == effect.claim)
        try:
            self._site.engine(claim.engine).cancel(Handle(effect.handle), now=effect.now)
        except (EngineError, SetupError):
            return  # Tried again at the claim's `retry_at` until the engine says it is gone.


def applied(state: RunState, change: Change) -> RunState:
    """The run as it stands after the change was written."""
    claims = {claim.id: claim for claim in state.claims}
    claims.update({claim.id: claim for claim in change.claims})
    number = change.run.attempt
    kept = tuple(
        claim
        for claim in claims.values()
        if claim.phase is not ClaimPhase.GONE or claim.attempt >= number
    )
    newest = (attempt for attempt in change.attempts if attempt.number == number)
    return RunState(run=change.run, attempt=next(newest, state.attempt), claims=kept)
