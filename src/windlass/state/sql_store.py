"""The store's logic, once for every database: what is checked, and what is written with it.

Must not know a driver: it speaks to `Database`. Every method that writes is one transaction, and
inside it nobody else writes, so what it has checked still holds when it writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from windlass.errors import RunChanged, RunNotReady, RunUnknown
from windlass.state import ledger, past
from windlass.state.database import Database, Row
from windlass.state.fence import (
    Stored,
    check_change,
    check_lease,
    check_requeue,
    check_version,
)
from windlass.state.model import Attempt, Change, Charge, Claim, Event, Lease, Run, RunState
from windlass.state.past import Held, Pace
from windlass.state.phases import (
    ENDED_RUNS,
    AttemptPhase,
    ClaimPhase,
    RunPhase,
    Wanted,
    is_ended,
)
from windlass.state.rows import ATTEMPTS, CHARGES, CLAIMS, EVENTS, RUNS, storable

# Word for word the condition of the index `runs_live`, or SQLite would not use it.
LIVE = "phase IN ({})".format(", ".join(f"'{p}'" for p in RunPhase if p not in ENDED_RUNS))

LIVE_RUNS = f"{RUNS.select} WHERE {LIVE} ORDER BY created_at, id"
# CROSS JOIN: SQLite keeps the order of the tables, so that live runs lead and not all attempts.
LIVE_ATTEMPTS = f"""
    SELECT {ATTEMPTS.columns_of("a")} FROM runs r CROSS JOIN attempts a
    WHERE r.{LIVE} AND a.run = r.id AND a.number = r.attempt"""
LIVE_CLAIMS = f"""
    SELECT {CLAIMS.columns_of("c")} FROM runs r CROSS JOIN claims c
    WHERE r.{LIVE} AND c.run = r.id AND c.attempt >= r.attempt
    UNION ALL
    SELECT {CLAIMS.columns_of("c")} FROM runs r CROSS JOIN claims c
    WHERE r.{LIVE} AND c.run = r.id AND c.attempt < r.attempt AND c.phase <> 'gone'"""

LIVE_VERSIONS = f"SELECT id, version FROM runs WHERE {LIVE} ORDER BY created_at, id"
NEWEST_ATTEMPT = f"{ATTEMPTS.select} WHERE run = ? AND number = ?"
OPEN_CLAIMS = f"""
    {CLAIMS.select} WHERE run = ? AND (attempt >= ? OR phase <> 'gone')
    ORDER BY attempt, "index\""""
FEW = 50
"""Up to this many runs are read one by one; more of them faster all at once."""

LAST_SIGN = "\U0010ffff"


class SqlStore:
    """A Store over a database whose schema is up to date."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """See Store."""
        self._database.close()

    # ---- the user's side -------------------------------------------------------------------

    def add_run(self, run: Run, event: Event) -> None:
        """See Store, promise 1."""
        with self._database.writing():
            if self.get_run(run.id) is not None:
                raise RunChanged(f"there is a run {run.id} already")
            self._put(run, (event,))

    def get_run(self, run_id: str) -> Run | None:
        """See Store, promise 2."""
        found = self._runs("WHERE id = ?", run_id)
        return found[0] if found else None

    def find_runs(self, text: str, *, limit: int = 10) -> Sequence[Run]:
        """See Store, promise 3."""
        newest = "ORDER BY created_at DESC, id DESC LIMIT ?"
        return (
            self._runs("WHERE id = ? LIMIT ?", text, limit)
            or self._runs(f"WHERE name = ? {newest}", text, limit)
            or self._runs(f"WHERE id >= ? AND id < ? {newest}", text, text + LAST_SIGN, limit)
        )

    def list_runs(
        self, *, phases: Sequence[RunPhase] = (), limit: int = 100, before: float | None = None
    ) -> Sequence[Run]:
        """See Store, promise 4."""
        conditions: list[str] = []
        values: list[object] = []
        if phases:
            conditions.append(f"phase IN ({', '.join('?' * len(phases))})")
            values.extend(phases)
            if not ENDED_RUNS.intersection(phases):
                conditions.append(LIVE)  # Says nothing new, but lets the index serve it.
        if before is not None:
            conditions.append("created_at < ?")
            values.append(before)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        return self._runs(f"{where} ORDER BY created_at DESC, id DESC LIMIT ?", *values, limit)

    def list_attempts(self, run_id: str) -> Sequence[Attempt]:
        """See Store, promise 5."""
        sql = f"{ATTEMPTS.select} WHERE run = ? AND phase <> 'held' ORDER BY number"
        return [ATTEMPTS.value(row) for row in self._database.query(sql, (storable(run_id),))]

    def list_claims(self, run_id: str) -> Sequence[Claim]:
        """See Store, promise 6."""
        sql = f'{CLAIMS.select} WHERE run = ? ORDER BY attempt, "index"'
        return [CLAIMS.value(row) for row in self._database.query(sql, (storable(run_id),))]

    def list_events(self, run_id: str, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """See Store, promise 7."""
        sql = f"{EVENTS.select} WHERE run = ? AND sequence > ? ORDER BY sequence LIMIT ?"
        rows = self._database.query(sql, (storable(run_id), after, limit))
        return [EVENTS.value(row) for row in rows]

    def want(self, run_id: str, wanted: Wanted, event: Event) -> Run:
        """See Store, promise 8."""
        with self._database.writing():
            run = self._known(run_id)
            is_softer = run.wanted is Wanted.KILL and wanted is Wanted.STOP
            wanted = run.wanted if is_softer else wanted
            return self._put(replace(run, wanted=wanted, version=run.version + 1), (event,))

    def requeue(self, run: Run, event: Event) -> Run:
        """See Store, promise 9."""
        with self._database.writing():
            stored = self.get_run(run.id)
            check_version(run, stored.version if stored else None)
            assert stored is not None
            check_requeue(stored.phase)
            queued = replace(run, phase=RunPhase.QUEUED, version=run.version + 1)
            return self._put(queued, (event,))

    def delete_run(self, run_id: str) -> None:
        """See Store, promise 10."""
        with self._database.writing():
            run = self._known(run_id)
            if not is_ended(run.phase):
                raise RunNotReady(
                    f"{run_id} is {run.phase}: only a run that has ended can be removed",
                    remedy=f"Stop it first with `windlass stop {run_id}`.",
                )
            self._database.query("DELETE FROM runs WHERE id = ?", (run_id,))

    # ---- the controller's side -------------------------------------------------------------

    def take_lease(self, holder: str, *, now: float, ttl_s: float) -> Lease | None:
        """See Store, promise 11."""
        with self._database.writing():
            current = self._lease()
            is_free = current.holder in ("", holder) or current.expires_at <= now
            if not is_free:
                return None
            return self._set_lease(
                Lease(holder=holder, epoch=current.epoch + 1, expires_at=now + ttl_s)
            )

    def renew_lease(self, lease: Lease, *, now: float, ttl_s: float) -> Lease:
        """See Store, promise 12."""
        with self._database.writing():
            check_lease(lease, self._lease())
            return self._set_lease(replace(lease, expires_at=now + ttl_s))

    def release_lease(self, lease: Lease) -> None:
        """See Store, promise 13."""
        with self._database.writing():
            current = self._lease()
            if (current.holder, current.epoch) == (lease.holder, lease.epoch):
                self._set_lease(Lease(holder="", epoch=lease.epoch, expires_at=0.0))

    def live(self, *, only: Collection[str] | None = None) -> Sequence[RunState]:
        """See Store, promise 14."""
        if only is not None and len(only) <= FEW:
            with self._database.reading():
                chosen = [self._live_run(run_id) for run_id in only]
            found = [state for state in chosen if state is not None]
            return sorted(found, key=lambda state: (state.run.created_at, state.run.id))
        states = self._all_live()
        return states if only is None else [state for state in states if state.run.id in only]

    def _live_run(self, run_id: str) -> RunState | None:
        run = self.get_run(run_id)
        if run is None or is_ended(run.phase):
            return None
        attempts = self._database.query(NEWEST_ATTEMPT, (run.id, run.attempt))
        claims = self._database.query(OPEN_CLAIMS, (run.id, run.attempt))
        return RunState(
            run=run,
            attempt=ATTEMPTS.value(attempts[0]) if attempts else None,
            claims=tuple(CLAIMS.value(row) for row in claims),
        )

    def _all_live(self) -> list[RunState]:
        with self._database.reading():
            runs = [RUNS.value(row) for row in self._database.query(LIVE_RUNS)]
            attempts = [ATTEMPTS.value(row) for row in self._database.query(LIVE_ATTEMPTS)]
            claims = [CLAIMS.value(row) for row in self._database.query(LIVE_CLAIMS)]
        newest = {attempt.run: attempt for attempt in attempts}
        grouped: dict[str, list[Claim]] = {run.id: [] for run in runs}
        for claim in sorted(claims, key=lambda claim: (claim.attempt, claim.index)):
            grouped[claim.run].append(claim)
        return [
            RunState(run=run, attempt=newest.get(run.id), claims=tuple(grouped[run.id]))
            for run in runs
        ]

    def write(self, lease: Lease, change: Change) -> Run:
        """See Store, promise 15."""
        with self._database.writing():
            check_lease(lease, self._lease())
            check_change(change, self._stored(change))
            written = replace(change.run, version=change.run.version + 1)
            self._database.repeat(CHARGES.upsert, [CHARGES.row(one) for one in change.charges])
            return self._put(written, change.events, attempts=change.attempts, claims=change.claims)

    def data_version(self) -> int:
        """See Store, promise 16."""
        return self._database.data_version()

    def live_versions(self) -> Mapping[str, int]:
        """See Store, promise 17."""
        return dict(self._database.query(LIVE_VERSIONS))

    # ---- the planner's side ----------------------------------------------------------------

    def held(self, *, now: float, cloud: str = "") -> Sequence[Held]:
        """See Store, promise 18."""
        return past.held(self._database, now=now, cloud=cloud)

    def paces(self, name: str, *, cloud: str = "") -> Sequence[Pace]:
        """See Store, promise 19."""
        return past.paces(self._database, name, cloud=cloud)

    # ---- the accountant's side -------------------------------------------------------------

    def charges(self, *, run_id: str | None = None, since: float | None = None) -> Sequence[Charge]:
        """See Store, promise 20."""
        return ledger.charges(self._database, run_id=run_id, since=since)

    # ---- rows ------------------------------------------------------------------------------

    def _runs(self, condition: str, *values: object) -> list[Run]:
        rows = self._database.query(f"{RUNS.select} {condition}", [storable(v) for v in values])
        return [RUNS.value(row) for row in rows]

    def _known(self, run_id: str) -> Run:
        run = self.get_run(run_id)
        if run is None:
            raise RunUnknown(
                f"there is no run {run_id}", remedy="List the runs there are with `windlass ps`."
            )
        return run

    def _put(
        self,
        run: Run,
        events: Iterable[Event],
        *,
        attempts: Iterable[Attempt] = (),
        claims: Iterable[Claim] = (),
    ) -> Run:
        """Insert or replace; parents before the rows that refer to them."""
        self._database.query(RUNS.upsert, RUNS.row(run))
        self._database.repeat(ATTEMPTS.upsert, [ATTEMPTS.row(attempt) for attempt in attempts])
        self._database.repeat(CLAIMS.upsert, [CLAIMS.row(claim) for claim in claims])
        self._database.repeat(EVENTS.insert, [EVENTS.row(event) for event in events])
        return run

    def _stored(self, change: Change) -> Stored:
        runs = self._database.query(
            "SELECT version, phase FROM runs WHERE id = ?", (change.run.id,)
        )
        attempts = self._chosen(
            "SELECT number, phase FROM attempts WHERE run = ? AND number IN",
            change.run.id,
            among=[attempt.number for attempt in change.attempts],
        )
        claims = self._chosen(
            "SELECT id, run, attempt, phase FROM claims WHERE id IN",
            among=[claim.id for claim in change.claims],
        )
        return Stored(
            version=runs[0][0] if runs else None,
            phase=RunPhase(runs[0][1]) if runs else None,
            attempts={number: AttemptPhase(phase) for number, phase in attempts},
            claims={id_: (run, of, ClaimPhase(phase)) for id_, run, of, phase in claims},
        )

    def _chosen(self, sql: str, *values: object, among: Sequence[object]) -> list[Row]:
        if not among:
            return []
        marks = ", ".join("?" * len(among))
        return self._database.query(f"{sql} ({marks})", (*values, *among))

    def _lease(self) -> Lease:
        [(holder, epoch, expires_at)] = self._database.query(
            "SELECT holder, epoch, expires_at FROM lease"
        )
        return Lease(holder=holder, epoch=epoch, expires_at=expires_at)

    def _set_lease(self, lease: Lease) -> Lease:
        self._database.query(
            "UPDATE lease SET holder = ?, epoch = ?, expires_at = ?",
            (storable(lease.holder), lease.epoch, lease.expires_at),
        )
        return lease
