"""The controller's pass over all live runs: which to look at now, and when to come back.

Must not wait, own threads or read the real clock: workers.py and the simulation call `tick`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from windlass.controller.clouds import is_within
from windlass.controller.observe import Observer
from windlass.controller.site import Site
from windlass.controller.step import Stepper
from windlass.controller.view import View
from windlass.engines.base import Owned, Seen
from windlass.errors import (
    EngineError,
    LeaseLost,
    RunChanged,
    SetupError,
    StoreBusy,
    StoreUnreachable,
)
from windlass.state.model import Lease, RunState
from windlass.state.phases import ClaimPhase, RunPhase, is_ended

LEASE_TTL_S = 30.0
SWEEP_EVERY_S = 30.0
SWEEP_AFTER_S = 2.0
"""After the end of a run: what was made with its machines can only be deleted after them, and a
controller that is idle for long ends."""
LOOK_FIRST_S = 0.01
LOOK_LAST_S = 1.0
LOOK_LAST_PENDING_S = 5.0
BUG_PAUSE_S = 30.0
"""How long a run is left alone after a step of it went wrong in a way nobody thought of."""
STEPS_MAX = 8
"""A run that still has something to do after this many steps waits for the next tick."""


@dataclass(slots=True)
class _Watch:
    """When a run was last changed and when to look at it next, by the steady clock."""

    changed_at: float
    look_at: float


class Loop:
    """Keeps every live run true to its spec, one tick at a time."""

    def __init__(
        self,
        site: Site,
        *,
        on_ended: Callable[[str], None],
        on_bug: Callable[[str, Exception], None],
    ) -> None:
        self._site = site
        self._observer = Observer(site, on_bug=self._set_aside)
        self._stepper = Stepper(site, self._observer)
        self._on_ended = on_ended
        self._on_bug = on_bug
        self._states: dict[str, RunState] = {}
        self._watches: dict[str, _Watch] = {}
        self._data_version: int | None = None
        self._elsewhere: set[str] = set()
        """Live runs of another cloud: what would be asked about them here says nothing of them."""
        self._sweep_at = float("-inf")
        self._used: set[str] = set()
        """Engines that ended runs were on, which may have left something behind."""

    @property
    def is_idle(self) -> bool:
        """Whether no run was live here at the last tick."""
        return not self._states

    @property
    def is_bound(self) -> bool:
        """Whether a live run needs the cloud that is asked here; others any controller serves."""
        return any(state.run.cloud for state in self._states.values())

    def tick(self, lease: Lease, *, woken: Iterable[str] = ()) -> float:
        """Look at what is due and at the runs in `woken`; return the seconds until the next."""
        self._reload()
        at = self._site.world.clock.monotonic()
        for run_id in woken:
            if run_id in self._watches:
                self._watches[run_id].look_at = at
        if at >= self._sweep_at:
            self._observer.forget_all_but(self._states.values())
            self._sweep()
            self._sweep_at = at + SWEEP_EVERY_S
        due = [self._states[run] for run, watch in self._watches.items() if watch.look_at <= at]
        self._step_all(lease, due)
        return self._seconds_to_next()

    # ---- which runs there are --------------------------------------------------------------

    def _reload(self) -> None:
        """Load what has changed when somebody else has written to the store."""
        store = self._site.store
        version = store.data_version()
        if version == self._data_version:
            return
        at = self._site.world.clock.monotonic()
        versions = store.live_versions()
        known = {run: state for run, state in self._states.items() if run in versions}
        self._elsewhere &= versions.keys()
        changed = {
            run
            for run in versions.keys() - self._elsewhere
            if run not in known or known[run].run.version != versions[run]
        }
        for state in store.live(only=changed) if changed else ():
            if not is_within(state.run, self._site.cloud):
                self._elsewhere.add(state.run.id)
                continue
            known[state.run.id] = state
            self._watches[state.run.id] = _Watch(changed_at=at, look_at=at)
        self._states = known
        self._watches = {run: self._watches[run] for run in known}
        self._data_version = version

    def _forget(self, run_id: str) -> None:
        ended = self._states.pop(run_id)
        self._used |= {ended.run.engine, *(claim.engine for claim in ended.claims)}
        del self._watches[run_id]
        self._observer.forget_run(run_id)
        soon = self._site.world.clock.monotonic() + SWEEP_AFTER_S
        self._sweep_at = min(self._sweep_at, soon)
        try:
            self._on_ended(run_id)
        except Exception as bug:  # noqa: BLE001 - it has ended all the same.
            self._on_bug(run_id, bug)

    def _set_aside(self, name: str, bug: Exception) -> None:
        """Leave a run alone for a while: a bug in one of them must not stop the others."""
        self._on_bug(name, bug)
        if name in self._watches:
            self._watches[name].look_at = self._site.world.clock.monotonic() + BUG_PAUSE_S

    # ---- steps -----------------------------------------------------------------------------

    def _step_all(self, lease: Lease, due: list[RunState]) -> None:
        for _ in range(STEPS_MAX):
            again = []
            at = self._site.world.clock.monotonic()
            for state in due:  # Unless it gives a view, which says when to look again.
                self._watches[state.run.id].look_at = at + LOOK_LAST_S
            for view in self._observer.look(due):
                moved = self._step(lease, view)
                if moved is not None:
                    again.append(moved)
            if not again:
                return
            due = again

    def _step(self, lease: Lease, view: View) -> RunState | None:
        """Step one run; returns it when it moved, so that it is looked at again at once."""
        run_id = view.state.run.id
        try:
            state, decision = self._stepper.step(lease, view)
        except RunChanged:
            self._data_version = None
            return None
        except (LeaseLost, StoreBusy, StoreUnreachable):
            raise
        except Exception as bug:  # noqa: BLE001 - see `_set_aside`.
            self._set_aside(run_id, bug)
            return None
        self._states[run_id] = state
        if is_ended(state.run.phase):
            self._forget(run_id)
            return None
        has_moved = _has_moved(view.state, state)
        self._schedule(view, has_moved=has_moved, wake_at=decision.wake_at)
        return state if has_moved else None

    def _schedule(self, view: View, *, has_moved: bool, wake_at: float | None) -> None:
        """Look often at what has just moved, and less and less often at what has not."""
        at = self._site.world.clock.monotonic()
        watch = self._watches[view.state.run.id]
        if has_moved:
            watch.changed_at = at
        is_pending = bool(view.claims) and all(
            claim.observation.seen is Seen.PENDING for claim in view.claims
        )
        last_s = LOOK_LAST_PENDING_S if is_pending else LOOK_LAST_S
        delay_s = min(max((at - watch.changed_at) / 4, LOOK_FIRST_S), last_s)
        if view.state.run.phase is RunPhase.QUEUED and not view.claims:
            delay_s = last_s
        if wake_at is not None:
            delay_s = min(delay_s, max(wake_at - self._site.world.clock.now(), LOOK_FIRST_S))
        watch.look_at = at + delay_s

    def _seconds_to_next(self) -> float:
        at = self._site.world.clock.monotonic()
        nexts = [watch.look_at for watch in self._watches.values()]
        return max(0.0, min([*nexts, at + LOOK_LAST_PENDING_S]) - at)

    # ---- what nobody wants -----------------------------------------------------------------

    def _sweep(self) -> None:
        """Cancel whatever an engine holds for us that no open claim of a live run asks for."""
        wanted = {
            claim.id
            for state in self._states.values()
            for claim in state.claims
            if claim.phase is not ClaimPhase.GONE
        }
        for name in self._searched():
            try:
                engine = self._site.engine(name)
                is_shared = engine.limits().is_rented
                for owned in engine.owned():
                    if owned.claim not in wanted and not self._is_kept(owned, is_shared=is_shared):
                        engine.cancel(owned.handle)
            except (EngineError, SetupError):
                continue  # It is asked again at the next sweep.
            except Exception as bug:  # noqa: BLE001 - an engine that is broken is not needed by all.
                self._on_bug(f"engine {name}", bug)

    def _searched(self) -> list[str]:
        """Engines that are always searched, and those that live runs are on."""
        used = {claim.engine for state in self._states.values() for claim in state.claims}
        return sorted({*self._site.engine_names, *self._used, *used})

    def _is_kept(self, owned: Owned, *, is_shared: bool) -> bool:
        """Whether it is wanted after all: another controller may have asked for it while this one
        hung, and has written that down before it did. What is of a run that this store has never
        heard of, or knows from another cloud, is somebody else's where an engine `is_shared` with
        others who have stores of their own; what nobody knows any more is `windlass reap`'s."""
        run_id = owned.claim.rsplit("-", 2)[0]
        run = self._site.store.get_run(run_id)
        if run is None or not is_within(run, self._site.cloud):
            return is_shared
        return not is_ended(run.phase) and any(
            claim.id == owned.claim and claim.phase is not ClaimPhase.GONE
            for claim in self._site.store.list_claims(run_id)
        )


def _has_moved(before: RunState, after: RunState) -> bool:
    """Whether more is different than the words for why it waits: a place in a queue changes all
    the time, and nothing follows from it."""
    run = replace(
        after.run, code=before.run.code, reason=before.run.reason, version=before.run.version
    )
    return (run, after.attempt, after.claims) != (before.run, before.attempt, before.claims)
