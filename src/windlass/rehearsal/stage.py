"""A private Google Cloud for one rehearsal: a home folder of its own, with a twin and a bucket.

Must not touch anything of the user's: neither home nor credentials nor projects.
"""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass.errors import NamespacesMissing, TwinFailed
from windlass.ports.clock import PacedClock, SystemClock
from windlass.twin.machines.machines import Machines
from windlass.twin.server import control
from windlass.twin.server.home import Running, TwinHome
from windlass.twin.server.variables import applied, variables

BUCKET = "rehearsal-runs"
ANSWER_S = 20.0
CONFIG = """\
project: {project}
run_folder: gs://{bucket}
engines: [gcp]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How the twin of a rehearsal is to be."""

    scenario: Path
    speed: float = 1.0
    seed: int = 0
    delays: str = "short"


class Stage:
    """Everything that a rehearsal makes, in one folder."""

    def __init__(self, path: Path, *, caller: Mapping[str, str]) -> None:
        self.path = path
        self.caller = caller
        self._twin = TwinHome(path / "twin")
        self._running: Running | None = None

    def build(self, wish: Wish) -> PacedClock:
        """Start the twin, make the bucket, and write the configuration; what time it is there.

        NamespacesMissing where this machine cannot have machines in it.
        """
        self._twin.make()
        refusal = Machines(self._twin.path).refusal()
        if refusal is not None:
            raise NamespacesMissing(
                f"a rehearsal needs real machines, and they cannot be had here: {refusal}",
                remedy="Rehearse on a Linux machine that lets you have user namespaces.",
            )
        environment = {k: v for k, v in self.caller.items() if not k.startswith("WINDLASS_")}
        wanted = control.Wish(
            scenario=str(wish.scenario.absolute()),
            speed=wish.speed,
            seed=wish.seed,
            delays=wish.delays,
        )
        self._running, _ = control.start(self._twin, wanted, environment=environment)
        config = CONFIG.format(project=self.project, bucket=BUCKET)
        (self.path / "config.yaml").write_text(config)
        self.ask("POST", f"/storage/v1/b?project={self.project}", {"name": BUCKET})
        clock = self._clock(wish.speed)
        clock.write(self.path / "clock.json")
        return clock

    def _clock(self, speed: float) -> PacedClock:
        machine = SystemClock()
        asked_at = machine.monotonic()
        start = float(self.ask("GET", "/twin/v1/status")["time"])
        return PacedClock(start=start, since=(asked_at + machine.monotonic()) / 2, speed=speed)

    @property
    def project(self) -> str:
        """The twin's only one."""
        return self._up.project

    @property
    def _up(self) -> Running:
        assert self._running is not None, "it was built"
        return self._running

    def environment(self) -> dict[str, str]:
        """Of programs that are to see this cloud and no other."""
        found = variables(self._twin, self._up, mode="proxy", caller=self.caller)
        return {**applied(self.caller, found), "WINDLASS_HOME": str(self.path)}

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One call to the twin, as its owner."""
        connection = http.client.HTTPConnection("127.0.0.1", self._up.port, timeout=ANSWER_S)
        try:
            headers = {"Authorization": f"Bearer {self._twin.token()}"}
            sent = None if body is None else json.dumps(body).encode()
            connection.request(method, path, body=sent, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as exc:
            raise self._failed(path, str(exc)) from exc
        finally:
            connection.close()
        if answer.status != 200:
            raise self._failed(path, f"status {answer.status}")
        document: dict[str, Any] = json.loads(content)
        return document

    def _failed(self, path: str, why: str) -> TwinFailed:
        return TwinFailed(
            f"the twin of the rehearsal did not answer {path.partition('?')[0]}: {why}",
            remedy=f"Rehearse again with `--keep`, and see {self._twin.log}.",
        )

    def strike(self) -> None:
        """End the twin and every machine in it; the folder stays."""
        control.stop(self._twin)

    def remove(self) -> None:
        """Remove the folder, once it was struck."""
        machines = Machines(self._twin.path)
        for folder in self._twin.machines.glob("[!.]*"):
            machines.delete(folder.name)
        shutil.rmtree(self.path, ignore_errors=True)
