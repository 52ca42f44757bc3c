"""The store that every backend implements. One conformance suite runs over all of them.

Must not decide anything: it keeps what it is given and refuses what is stale.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from windlass.state.model import Attempt, Change, Charge, Claim, Event, Lease, Run, RunState
from windlass.state.past import Held, Pace
from windlass.state.phases import RunPhase, Wanted


class Store(Protocol):
    """Keeps runs, attempts, claims and events. Safe to use from one thread per instance."""

    def close(self) -> None:
        """Release what the store holds open."""

    # ---- the user's side -------------------------------------------------------------------

    def add_run(self, run: Run, event: Event) -> None:
        """1. Add a new run and its first event; RunChanged if the id is taken."""

    def get_run(self, run_id: str) -> Run | None:
        """2. The run of exactly this id."""

    def find_runs(self, text: str, *, limit: int = 10) -> Sequence[Run]:
        """3. Runs whose id is `text`, else whose name is, else whose id begins with it;
        newest first."""

    def list_runs(
        self, *, phases: Sequence[RunPhase] = (), limit: int = 100, before: float | None = None
    ) -> Sequence[Run]:
        """4. Newest first; every phase when none is named; created before `before`."""

    def list_attempts(self, run_id: str) -> Sequence[Attempt]:
        """5. In order of their numbers; one that is held has not begun."""

    def list_claims(self, run_id: str) -> Sequence[Claim]:
        """6. In order of attempt and index."""

    def list_events(self, run_id: str, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """7. In order, with a sequence greater than `after`."""

    def want(self, run_id: str, wanted: Wanted, event: Event) -> Run:
        """8. Record what the user wants and count the version up, so that a step deciding at
        this moment is refused and looks again. KILL is never taken back by STOP.
        RunUnknown when there is no such run."""

    def requeue(self, run: Run, event: Event) -> Run:
        """9. Write an ended run back as queued (`windlass retry`); RunChanged unless `run.version`
        is current, PhaseIllegal unless it has ended."""

    def delete_run(self, run_id: str) -> None:
        """10. Forget an ended run and all that belongs to it; RunNotReady if it has not ended,
        RunUnknown when there is no such run."""

    # ---- the controller's side -------------------------------------------------------------

    def take_lease(self, holder: str, *, now: float, ttl_s: float) -> Lease | None:
        """11. Take the lease when it is free, expired, or `holder` has it already (an earlier life
        of the same holder then loses it); None when somebody else has it. The epoch grows by one.
        """

    def renew_lease(self, lease: Lease, *, now: float, ttl_s: float) -> Lease:
        """12. Same epoch, later expiry; LeaseLost when the epoch has moved on."""

    def release_lease(self, lease: Lease) -> None:
        """13. Let go at once; nothing happens when it is no longer ours."""

    def live(self, *, only: Collection[str] | None = None) -> Sequence[RunState]:
        """14. Every run that has not ended, or those of them with these ids; oldest first. Its
        cost grows with live runs only."""

    def write(self, lease: Lease, change: Change) -> Run:
        """15. The fenced write. One transaction that checks, before it writes anything, that the
        lease's epoch is current (LeaseLost) and the run's version is the one read (RunChanged),
        and that every phase moves legally (PhaseIllegal). Returns the run with its new version.
        StoreBusy leaves open whether it happened: load again before deciding anew."""

    def data_version(self) -> int:
        """16. A number that changes whenever another connection has written: cheap to poll."""

    def live_versions(self) -> Mapping[str, int]:
        """17. The version of every run that has not ended, by id, oldest first: for whoever knows
        most of them already and will load the others."""

    # ---- the planner's side ----------------------------------------------------------------

    def held(self, *, now: float, cloud: str = "") -> Sequence[Held]:
        """18. What was rented, by kind, and how often it was taken away; attempts that still run
        count up to `now`. In one cloud, or in all. Its cost grows with rented claims only."""

    def paces(self, name: str, *, cloud: str = "") -> Sequence[Pace]:
        """19. Times of steps that runs of this name have shown, with the accelerators they ran on;
        newest first."""

    # ---- the accountant's side -------------------------------------------------------------

    def charges(self, *, run_id: str | None = None, since: float | None = None) -> Sequence[Charge]:
        """20. What machines have cost, oldest first: of one run or of all, also of runs that were
        removed; those held at `since` or later."""
