"""How the conformance suite drives each registered engine: one bench an engine.

A new engine adds its bench here; without one the suite fails.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import DiskFolder, folder_url
from windlass.agent.pack import build
from windlass.engines.base import ClaimRequest, Engine, Handle, Observation, Seen
from windlass.engines.local.factory import build as build_local
from windlass.engines.site import EngineSite
from windlass.ports.process import Processes
from windlass.ports.world import system_world


class Bench:
    """An engine with a run folder, over which claims really run."""

    def __init__(self, make: Callable[[EngineSite], Engine[Any]], home: Path) -> None:
        self._make = make
        self.home = home
        self.processes = Processes()
        self.world = system_world()
        self.engine = self.restart()

    def restart(self) -> Engine[Any]:
        """The engine as a new controller builds it, over the same world."""
        site = EngineSite(
            home=self.home,
            world=self.world,
            processes=self.processes,
            agent=lambda: build(self.home / "agent"),
            secrets=lambda run: None,
            wake=self.home / "wake",
        )
        self.engine = self._make(site)
        return self.engine

    def claim(self, claim_id: str, command: str, *, nodes: int = 1, **fields: Any) -> ClaimRequest:
        """A claim whose agents find their order in the run folder."""
        run, attempt, _ = claim_id.rsplit("-", 2)
        folder = self.folder(run)
        order = {
            "version": 1,
            "run": run,
            "name": run,
            "attempt": int(attempt),
            "claim": claim_id,
            "nodes": nodes,
            "ranks_per_node": 1,
            "launch": "plain",
            "command": command,
            "setup": None,
            "source": None,
            "env": {},
            "notice_s": 30,
            "secrets": [],
            "emulate_devices": None,
            "accelerator": None,
            "checkpoint": None,
            "data": {},
        }
        folder.write(layout.claim_file(int(attempt), claim_id), json.dumps(order).encode())
        defaults = {
            "accelerators": (),
            "accelerators_per_node": 0,
            "cpus_per_node": None,
            "memory_bytes_per_node": None,
            "options": {},
            "is_emulated": False,
            "environment": {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
            "secrets": {},
        }
        return ClaimRequest(
            id=claim_id,
            run=run,
            attempt=int(attempt),
            nodes=nodes,
            folder=self.folder_url(run),
            **{**defaults, **fields},
        )

    def submit(self, claim: ClaimRequest) -> Handle:
        return self.engine.submit(self.engine.render(claim))

    def folder(self, run: str) -> DiskFolder:
        return DiskFolder(self.home / "runs" / run)

    def folder_url(self, run: str) -> str:
        return folder_url(self.folder(run).root)

    def look(self, handle: Handle) -> Observation:
        return self.engine.observe([handle])[handle]

    def wait(self, handle: Handle, seen: Seen, *, timeout_s: float = 30.0) -> Observation:
        """Look until the claim is seen so."""
        return self.until(
            lambda: (found := self.look(handle)).seen is seen and found, timeout_s=timeout_s
        )

    def until(self, look: Callable[[], Any], *, timeout_s: float = 30.0) -> Any:
        deadline = time.monotonic() + timeout_s
        while not (found := look()):
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)
        return found

    def output(self, claim_id: str, *, node: int = 0) -> str:
        """What the node's rank has printed so far, without the times."""
        run, attempt, _ = claim_id.rsplit("-", 2)
        folder = self.folder(run)
        rank = layout.rank(int(attempt), claim_id, node, node)
        names = [name for name in folder.list(rank) if "/log-" in name]
        text = b"".join(folder.read(name) or b"" for name in names).decode()
        return "".join(line.split(" ", 1)[1] for line in text.splitlines(keepends=True))

    def exit(self, claim_id: str, *, node: int = 0) -> dict[str, Any] | None:
        run, attempt, _ = claim_id.rsplit("-", 2)
        found = self.folder(run).read(layout.exit_file(int(attempt), claim_id, node))
        return None if found is None else json.loads(found)

    def close(self) -> None:
        """End everything that a failed test left."""
        for owned in self.engine.owned():
            self.engine.cancel(owned.handle, now=True)
            self.wait(owned.handle, Seen.GONE)


def _compute(home: Path) -> Bench:
    from conformance.google_bench import GoogleBench
    from windlass.engines.compute.factory import build as build_compute

    return GoogleBench(build_compute, home, offer="us-central1-a/g2-standard-4/spot")


def _tpu(home: Path) -> Bench:
    from conformance.google_bench import GoogleBench
    from windlass.engines.tpu.factory import build as build_tpu

    return GoogleBench(build_tpu, home, offer="us-central1-a/v5e-4/spot")


def _vertex(home: Path) -> Bench:
    from conformance.google_bench import GoogleBench
    from windlass.engines.vertex.factory import build as build_vertex

    return GoogleBench(build_vertex, home, offer="us-central1-a/g2-standard-4/spot")


BENCHES: dict[str, Callable[[Path], Bench]] = {
    "compute": _compute,
    "local": lambda home: Bench(build_local, home),
    "tpu": _tpu,
    "vertex": _vertex,
}
