"""Looks at engines and run folders and makes the views that decisions are based on.

Must not decide or write. Engines are asked once per look for all runs together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from windlass.agent.folder import Folder
from windlass.controller.gangs import GangReader
from windlass.controller.glance import Glance, Memory
from windlass.controller.measures import Measures
from windlass.controller.request import Facts, facts_of, node_count_of
from windlass.controller.sightings import Sightings
from windlass.controller.site import Site
from windlass.controller.view import ClaimView, Measured, NodeView, View
from windlass.engines.base import Handle, Limits, Observation, Seen
from windlass.errors import EngineError, Retry, SetupError, UserError
from windlass.state.model import Claim, RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase

NOT_ASKED = Observation(seen=Seen.UNKNOWN, reason="the engine has not answered yet")
NOT_FOUND = Observation(seen=Seen.GONE, reason="the engine does not know it")
CANNOT_LOOK = Observation(seen=Seen.UNKNOWN, reason="the engine could not be asked")
UNSEEN_NODE = NodeView(beat_age_s=None, state="", exit=None)


class Observer:
    """Makes a View of each run it is asked about."""

    def __init__(self, site: Site, *, on_bug: Callable[[str, Exception], None]) -> None:
        self._site = site
        self._on_bug = on_bug
        self._engine_bugs: dict[str, str] = {}
        self._troubles: dict[str, str] = {}
        """Why engines cannot be asked until somebody mends something, as of the newest look."""
        self._sightings = Sightings()
        self._gangs = GangReader(self._sightings, site.world.clock)
        self._measures = Measures(site.world.clock)
        self._facts: dict[str, Facts] = {}
        self._folders: dict[str, Folder] = {}
        self._memories: dict[str, Memory] = {}

    def facts(self, state: RunState) -> Facts:
        """The facts of a run's spec, parsed once."""
        run = state.run
        if run.id not in self._facts:
            self._facts[run.id] = facts_of(run)
        return self._facts[run.id]

    def folder(self, run_id: str) -> Folder:
        """The run's folder."""
        if run_id not in self._folders:
            self._folders[run_id] = self._site.world.open_folder(self._site.folder_url(run_id))
        return self._folders[run_id]

    def look(self, states: Sequence[RunState]) -> Iterable[View]:
        """A view of each run. A run whose folder cannot be read gives none this time; nor does one
        that cannot be understood, which is told to `on_bug` and must not hide the others."""
        claims = [claim for state in states for claim in _open(state.claims)]
        asked_at = self._site.world.clock.monotonic()
        handles = self._find_handles(states)
        observations = self._observe(claims, handles, asked_at=asked_at)
        # Folders are read after engines: a node that an engine misses has written its exit before.
        for state in states:
            try:
                view = self._view(state, handles, observations)
            except (OSError, SetupError):
                continue
            except Exception as bug:  # noqa: BLE001 - see above.
                self._on_bug(state.run.id, bug)
                continue
            yield view

    def forget_all_but(self, states: Iterable[RunState]) -> None:
        """Drop what is remembered of runs that have ended."""
        known = list(states)
        runs = {state.run.id for state in known}
        claims = {claim.id for state in known for claim in state.claims}
        self._sightings.forget_all_but(claims)
        self._gangs.forget_all_but(claims, runs)
        self._measures.forget_all_but(runs)
        self._facts = {run: facts for run, facts in self._facts.items() if run in runs}
        self._folders = {run: folder for run, folder in self._folders.items() if run in runs}
        self._memories = {run: memory for run, memory in self._memories.items() if run in runs}

    def forget_run(self, run_id: str) -> None:
        """Drop what is remembered of one run that has ended."""
        self._facts.pop(run_id, None)
        self._folders.pop(run_id, None)
        self._memories.pop(run_id, None)

    # ---- engines ---------------------------------------------------------------------------

    def _find_handles(self, states: Sequence[RunState]) -> dict[str, str]:
        """Handle of each open claim; those without are searched for when they must go."""
        handles: dict[str, str] = {}
        searched: dict[str, Mapping[str, str]] = {}
        for state in states:
            for claim in _open(state.claims):
                if claim.handle:
                    handles[claim.id] = claim.handle
                elif _must_go(state, claim):
                    if claim.engine not in searched:
                        searched[claim.engine] = self._owned(claim.engine)
                    if claim.id in searched[claim.engine]:
                        handles[claim.id] = searched[claim.engine][claim.id]
                    elif _COULD_NOT_LOOK not in searched[claim.engine]:
                        handles[claim.id] = ""
        return handles

    def _owned(self, engine: str) -> Mapping[str, str]:
        try:
            found = self._site.engine(engine).owned()
            self._troubles.pop(engine, None)
            return {owned.claim: owned.handle for owned in found}
        except (EngineError, SetupError, UserError) as error:
            self._note_trouble(engine, error)
            return {_COULD_NOT_LOOK: ""}
        except Exception as bug:  # noqa: BLE001 - runs on other engines go on.
            self._note_engine_bug(engine, bug)
            return {_COULD_NOT_LOOK: ""}

    def _observe(
        self, claims: Sequence[Claim], handles: Mapping[str, str], *, asked_at: float
    ) -> dict[str, Observation]:
        seen: dict[str, Observation] = {}
        by_engine: dict[str, list[Claim]] = defaultdict(list)
        for claim in claims:
            if handles.get(claim.id):
                by_engine[claim.engine].append(claim)
            else:
                seen[claim.id] = NOT_FOUND if claim.id in handles else NOT_ASKED
        for engine, asked in by_engine.items():
            answers = self._ask(engine, [Handle(handles[claim.id]) for claim in asked])
            for claim in asked:
                seen[claim.id] = answers.get(Handle(handles[claim.id]), CANNOT_LOOK)
        told_at = self._site.world.clock.monotonic()
        for claim_id, observation in seen.items():
            self._sightings.note(claim_id, observation, asked_at=asked_at, told_at=told_at)
        return seen

    def _ask(self, engine: str, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        try:
            answers = self._site.engine(engine).observe(handles)
            self._troubles.pop(engine, None)
            return answers
        except (EngineError, SetupError, UserError) as error:
            self._note_trouble(engine, error)
            return {}
        except Exception as bug:  # noqa: BLE001 - runs on other engines go on.
            self._note_engine_bug(engine, bug)
            return {}

    def _note_trouble(self, engine: str, error: EngineError | SetupError | UserError) -> None:
        """What passes by itself is not worth telling."""
        if error.retry is Retry.NEVER:
            self._troubles[engine] = error.message

    def _note_engine_bug(self, engine: str, bug: Exception) -> None:
        """Told once, not at every look."""
        if self._engine_bugs.get(engine) != repr(bug):
            self._engine_bugs[engine] = repr(bug)
            self._on_bug(f"engine {engine}", bug)

    # ---- folders ---------------------------------------------------------------------------

    def _view(
        self, state: RunState, handles: Mapping[str, str], seen: Mapping[str, Observation]
    ) -> View:
        facts = self.facts(state)
        glance = self._glance(state.run.id)
        views = [
            self._claim_view(
                state, claim, handles.get(claim.id, ""), seen=seen[claim.id], glance=glance
            )
            for claim in _open(state.claims)
        ]
        is_asked = any(view.observation.seen is not Seen.PENDING for view in views)
        number = state.run.attempt
        winner = None
        if number and (is_asked or not views):
            winner = self._gangs.winner(glance, state.run.id, number)
        return View(
            state=state,
            limits=self._limits(state),
            restarts_max=facts.spec.limits.restarts,
            winner=winner,
            claims=tuple(views),
            gangs=facts.gangs,
            wishes=facts.wishes,
            measured=self._measured(state, facts),
        )

    def _glance(self, run_id: str) -> Glance:
        memory = self._memories.setdefault(run_id, {})
        at = self._site.world.clock.monotonic()
        return Glance(self.folder(run_id), memory, began_at=at)

    def _limits(self, state: RunState) -> Limits:
        """Of all engines that the run has claims with: the most patient of each."""
        names = {state.run.engine, *(claim.engine for claim in _open(state.claims))}
        each = [self._site.engine(name).limits() for name in sorted(names)]
        if len(each) == 1:
            return each[0]
        return replace(
            each[0],
            start_timeout_s=max(one.start_timeout_s for one in each),
            stale_s=max(one.stale_s for one in each),
            notice_s=max(one.notice_s for one in each),
        )

    def _measured(self, state: RunState, facts: Facts) -> Measured:
        """Only where something depends on it."""
        run, work, measured = state.run, facts.spec.work, Measured()
        folder = self.folder(run.id)
        has_limits = facts.wishes.budget_usd is not None or facts.wishes.deadline_s is not None
        if facts.gang.offer and has_limits:
            steps = work.steps if work else None
            measured = self._measures.of(folder, run.id, run.attempt, steps=steps)
        if run.phase is RunPhase.QUEUED and _has_ended(state):
            measured = self._measures.left(folder, run.id, run.attempt, measured)
        return measured

    def _claim_view(
        self, state: RunState, claim: Claim, handle: str, *, seen: Observation, glance: Glance
    ) -> ClaimView:
        nodes = tuple(UNSEEN_NODE for _ in range(node_count_of(self.facts(state), claim)))
        end, notice = None, None
        # A claim that waits in a queue has left nothing, nor has one that never had a machine.
        if seen.seen is not Seen.PENDING and not (claim.refused and seen.seen is Seen.GONE):
            at = glance.began_at
            nodes = tuple(
                self._gangs.node(glance, claim.attempt, claim.id, node=node, asked_at=at)
                for node in range(len(nodes))
            )
            end = self._gangs.end(glance, claim.attempt, claim.id)
            notice = self._gangs.notice(glance, claim.attempt, claim.id)
        return ClaimView(
            claim=claim,
            handle=handle,
            observation=seen,
            gone_for_s=self._sightings.gone_for_s(claim.id),
            missing_for_s=self._sightings.missing_for_s(claim.id),
            up_for_s=self._sightings.up_for_s(claim.id),
            nodes=nodes,
            end=end,
            notice=notice,
            trouble=self._troubles.get(claim.engine, "") if seen.seen is Seen.UNKNOWN else "",
        )


_COULD_NOT_LOOK = "?"


def _open(claims: Iterable[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.phase is not ClaimPhase.GONE]


def _has_ended(state: RunState) -> bool:
    return state.attempt is not None and state.attempt.phase is AttemptPhase.ENDED


def _must_go(state: RunState, claim: Claim) -> bool:
    """Nobody wants the claim any more, so that it must be found if it exists."""
    attempt = state.attempt
    if claim.phase is ClaimPhase.CANCELLING:
        return True
    if attempt is None or claim.attempt < attempt.number:
        return True
    is_spare = claim.attempt > attempt.number
    return not is_spare and attempt.phase in (AttemptPhase.ENDING, AttemptPhase.ENDED)
