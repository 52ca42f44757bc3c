"""A controller's loop over a store on disk, folders in memory and an engine that does as told.

Must not decide anything: tests say what the engine answers and what nodes leave.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from builders import make_event, make_run
from windlass.agent import layout
from windlass.controller.loop import Loop
from windlass.controller.site import Site
from windlass.engines.base import Handle, Limits, Observation, Owned, Seen
from windlass.errors import OptionRefused
from windlass.ports.entropy import SeededEntropy
from windlass.ports.world import World
from windlass.simulation.disk import Disk
from windlass.spec.canonical import to_json
from windlass.spec.model import Resources, Spec
from windlass.state.model import Run, RunState
from windlass.state.sqlite_store import open_sqlite

RUNNING = Observation(seen=Seen.RUNNING)
PENDING = Observation(seen=Seen.PENDING, reason="all 2 processors are in use")
GONE = Observation(seen=Seen.GONE)


class Hands:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


@dataclass
class ToldEngine:
    """Does as it is told, and remembers what it was asked."""

    name: str = "told"
    seen: dict[str, Observation] = field(default_factory=dict)
    refusals: list[Exception] = field(default_factory=list)
    """Raised by the next submits, one each."""
    trouble: Exception | None = None
    """Raised by everything that only looks."""
    asked: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    cancelled: list[tuple[str, bool]] = field(default_factory=list)
    looks: list[tuple[str, ...]] = field(default_factory=list)

    def limits(self) -> Limits:
        return Limits(nodes_max=4, start_timeout_s=60.0, stale_s=0.0, notice_s=30.0)

    def render(self, claim: Any) -> Any:
        return claim

    def submit(self, request: Any) -> Handle:
        self.asked.append(request.id)
        if self.refusals:
            raise self.refusals.pop(0)
        if request.id not in self.taken:
            self.taken.append(request.id)
            self.seen.setdefault(request.id, RUNNING)
        return Handle(request.id)

    def observe(self, handles: Any) -> dict[Handle, Observation]:
        self.looks.append(tuple(handles))
        self._trouble()
        return {handle: self.seen.get(handle, GONE) for handle in handles}

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        self._trouble()
        self.cancelled.append((handle, now))

    def owned(self) -> list[Owned]:
        self._trouble()
        left = [claim for claim, found in self.seen.items() if found.seen is not Seen.GONE]
        return [Owned(handle=Handle(claim), claim=claim) for claim in left]

    def _trouble(self) -> None:
        if self.trouble is not None:
            raise self.trouble


class Controller:
    """One loop, its store, and a second connection for whoever else writes."""

    def __init__(self, home: Path) -> None:
        path = str(home / "windlass.db")
        self.clock = Hands()
        self.store = open_sqlite(path)
        self.others = open_sqlite(path)
        self.engine = ToldEngine()
        self.disks: dict[str, Disk] = defaultdict(Disk)
        self.cut_off: set[str] = set()
        self.ended: list[str] = []
        self.bugs: list[tuple[str, Exception]] = []
        self.lease = self.store.take_lease("us", now=0.0, ttl_s=1e9)
        self.site = Site(
            world=World(clock=self.clock, entropy=SeededEntropy(1), open_folder=self._open_folder),
            store=self.store,
            engine=self._engine,
            engine_names=("told",),
            folder_url=lambda run: f"disk://{run}",
        )
        self.loop = self.new_loop()

    def new_loop(self, on_ended: Callable[[str], None] | None = None) -> Loop:
        self.loop = Loop(
            self.site,
            on_ended=on_ended or self.ended.append,
            on_bug=lambda name, bug: self.bugs.append((name, bug)),
        )
        return self.loop

    def _engine(self, name: str) -> Any:
        if name != "told":
            raise OptionRefused(f"there is no engine called {name!r}", remedy="")
        return self.engine

    def _open_folder(self, url: str) -> Any:
        run = url.removeprefix("disk://")
        return self.disks[run].seen_by(lambda: run in self.cut_off)

    def close(self) -> None:
        self.store.close()
        self.others.close()

    # ---- the user's side -------------------------------------------------------------------

    def add(self, run_id: str = "r", *, nodes: int = 1, **fields: Any) -> Run:
        """A run that somebody else submits."""
        spec = Spec(name=run_id, run="true", resources=Resources(nodes_min=nodes, nodes_max=nodes))
        defaults = {"spec": to_json(spec), "engine": "told", "created_at": self.clock.at}
        run = make_run(run_id, **{**defaults, **fields})
        self.others.add_run(run, make_event(run_id))
        return run

    def want(self, run_id: str, wanted: Any) -> None:
        self.others.want(run_id, wanted, make_event(run_id))

    # ---- the nodes' side -------------------------------------------------------------------

    def leave(self, run_id: str, name: str, value: Any) -> None:
        self.disks[run_id].objects[name] = json.dumps(value).encode()

    def start(self, run_id: str = "r", attempt: int = 1) -> None:
        """Node 0 wins, and its ranks run."""
        claim = f"{run_id}-{attempt}-0"
        self.leave(run_id, layout.winner(attempt), {"claim": claim})
        beat = {"beat": 1, "state": "running"}
        self.leave(run_id, layout.heartbeat(attempt, claim, 0), beat)

    def finish(self, run_id: str = "r", attempt: int = 1, **fields: Any) -> None:
        """Node 0 leaves, and nothing of it is left in the engine."""
        claim = f"{run_id}-{attempt}-0"
        said = {"outcome": "succeeded", "status": 0, "rank": None, "reason": "", **fields}
        self.leave(run_id, layout.exit_file(attempt, claim, 0), {"had_notice": False, **said})
        self.engine.seen[claim] = GONE

    # ---- time ------------------------------------------------------------------------------

    def tick(self, seconds: float = 0.0, **options: Any) -> float:
        self.clock.at += seconds
        return self.loop.tick(self.lease, **options)

    def run(self, run_id: str = "r") -> Run:
        run = self.others.get_run(run_id)
        assert run is not None
        return run

    def state(self, run_id: str = "r") -> RunState:
        (state,) = [state for state in self.others.live() if state.run.id == run_id]
        return state

    def events(self, run_id: str = "r") -> list[str]:
        return [event.code for event in self.others.list_events(run_id)]

    def with_store(self, store: Any) -> None:
        """Go on with a store that misbehaves."""
        self.site = replace(self.site, store=store)
        self.new_loop()
