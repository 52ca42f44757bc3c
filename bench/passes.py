"""One pass of the controller over its store: it must grow with live runs, not with ended ones.

The engine answers at once and run folders are in memory: only the controller's own work is timed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from clocks import median, seconds
from figures import Figure, Result
from populate import add, add_ended, new_run

from windlass.agent import layout
from windlass.controller.loop import Loop
from windlass.controller.site import Site
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.ports.clock import SystemClock
from windlass.ports.entropy import SeededEntropy
from windlass.ports.world import World
from windlass.simulation.disk import Disk
from windlass.state.model import Lease
from windlass.state.open_store import open_store
from windlass.state.phases import RunPhase
from windlass.state.store import Store

ENDED = (0, 10_000)
LIVE = (100, 1_000)
REPETITIONS = 7
FOREVER_S = 1e9


class SteadyEngine:
    """Takes every claim and calls it running from then on. Implements engines.base.Engine."""

    name = "steady"

    def __init__(self) -> None:
        self._held: list[Handle] = []

    def limits(self) -> Limits:
        """See Engine."""
        return Limits(nodes_max=8, start_timeout_s=FOREVER_S, stale_s=0.0, notice_s=30.0)

    def render(self, claim: ClaimRequest) -> ClaimRequest:
        """See Engine."""
        return claim

    def submit(self, request: ClaimRequest) -> Handle:
        """See Engine."""
        self._held.append(Handle(request.id))
        return self._held[-1]

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine."""
        return {handle: Observation(seen=Seen.RUNNING) for handle in handles}

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine."""

    def owned(self) -> Sequence[Owned]:
        """See Engine."""
        return [Owned(handle=handle, claim=handle) for handle in self._held]


class Scene:
    """A controller with so many live runs, all of them running, and so many ended ones."""

    def __init__(self, path: Path, *, ended: int, live: int) -> None:
        url = f"sqlite://{path}"
        if ended:
            add_ended(path, ended, engine="steady")
        self._store = open_store(url)
        self._lease = _lease(self._store)
        self._others = open_store(url)
        self._ids = [f"bench-{number:05d}" for number in range(live)]
        self._disks = {run: Disk() for run in self._ids}
        for number, run in enumerate(self._ids):
            add(self._store, new_run(number, engine="steady"))
            self._let_beat(run)
        self._extra = live
        self._loop = Loop(self._site(), on_ended=lambda run: None, on_bug=_fail)
        while any(state.run.phase is not RunPhase.RUNNING for state in self._store.live()):
            self._loop.tick(self._lease, woken=self._ids)

    def busy_s(self) -> float:
        """A pass in which every live run is looked at."""
        return seconds(lambda: self._loop.tick(self._lease, woken=self._ids))

    def quiet_s(self) -> float:
        """A pass in which none is due."""
        self._loop.tick(self._lease, woken=self._ids)
        return seconds(lambda: self._loop.tick(self._lease))

    def submit_s(self) -> float:
        """A pass after somebody else has added one run."""
        run = new_run(self._extra, engine="steady")
        self._extra += 1
        self._disks[run.id] = Disk()
        self._let_beat(run.id)
        self._loop.tick(self._lease, woken=self._ids)
        add(self._others, run)
        return seconds(lambda: self._loop.tick(self._lease))

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()
        self._others.close()

    def _site(self) -> Site:
        engine = SteadyEngine()
        world = World(
            clock=SystemClock(),
            entropy=SeededEntropy(1),
            open_folder=lambda url: self._disks[url].seen_by(lambda: False),
        )
        return Site(
            world=world,
            store=self._store,
            engine=lambda name: engine,
            engine_names=(engine.name,),
            folder_url=lambda run: run,
        )

    def _let_beat(self, run: str) -> None:
        claim = f"{run}-1-0"
        objects = self._disks[run].objects
        beat = {"beat": 1, "state": "running", "address": "127.0.0.1:9", "nonce": "n", "time": 1.0}
        objects[layout.heartbeat(1, claim, 0)] = json.dumps(beat).encode()
        objects[layout.winner(1)] = json.dumps({"claim": claim}).encode()


Scenes = dict[tuple[int, int], Scene]
"""By how many runs have ended and how many live."""


def measure() -> Result:
    """All four scenes in turn."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        scenes = {
            (ended, live): Scene(Path(folder, f"{ended}-{live}.db"), ended=ended, live=live)
            for ended in ENDED
            for live in LIVE
        }
        busy = _medians(scenes, Scene.busy_s)
        quiet = _medians(scenes, Scene.quiet_s)
        submit = _medians(scenes, Scene.submit_s)
        for scene in scenes.values():
            scene.close()
    figures = [
        *_figures("every run looked at", busy),
        *_figures("none due", quiet),
        *_figures("one run added by another", submit),
    ]
    return Result(
        title="One pass of the controller",
        baseline="the same pass with no ended run in the store",
        limit="1 x: what has ended need not be read; ten times the live runs, ten times the pass",
        figures=tuple(figures),
    )


def _medians(scenes: Scenes, side: Callable[[Scene], float]) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], list[float]] = {key: [] for key in scenes}
    for _ in range(REPETITIONS):
        for key, scene in scenes.items():
            found[key].append(side(scene))
    return {key: median(values) for key, values in found.items()}


def _figures(name: str, found: dict[tuple[int, int], float]) -> list[Figure]:
    return [
        Figure(
            name=f"{name}: {live:,} live, {ended:,} ended",
            value=value * 1e3,
            unit="ms",
            ratio=value / found[(0, live)],
            target=1.5 if ended else None,
            note=f"{value / live * 1e6:.0f} us a live run",
        )
        for (ended, live), value in found.items()
    ]


def _lease(store: Store) -> Lease:
    lease = store.take_lease("bench", now=0.0, ttl_s=FOREVER_S)
    assert lease is not None
    return lease


def _fail(run: str, bug: Exception) -> None:
    raise SystemExit(f"a step of {run} went wrong") from bug
