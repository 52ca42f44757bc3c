"""A cloud of its own for runs that are really carried out on rented machines: a real twin, a home
that rents from it, and whatever a test wants to know of both.

Must not kill anything while a test goes on: the stories do.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kill import trainer, victims
from kill.arena import Life
from kill.listening import Listener
from windlass.assemble import Home
from windlass.cli.foresight import Foresight
from windlass.errors import TwinPortTaken
from windlass.google.access import Access
from windlass.rehearsal.evidence import left_behind
from windlass.rehearsal.outlook import outlook
from windlass.rehearsal.stage import Stage, Wish
from windlass.spec.load import load_spec
from windlass.twin.machines.client import Unreachable
from windlass.twin.machines.machines import Machines
from windlass.twin.scenario.load import load_scenario
from windlass.twin.server import control
from windlass.twin.server.home import TwinHome

SPEC = {
    "name": "count",
    "launch": "plain",
    "resources": {"nodes": 2, "machine": "g2-standard-4"},
    "where": {"engines": ["compute"], "regions": ["us-central1"], "buy": ["spot"]},
    "limits": {"restarts": 30, "ttl": "30m"},
}

PORT_S = 20.0


class RentedLife(Life):
    """One run on rented machines."""

    patience_s = 600.0
    """A node whose agent is dead and whose machine is not is lost with its lease, which every new
    controller counts anew: where one is killed each half minute, that is never."""

    def __init__(self, cloud: Cloud, run_id: str, *, steps: int) -> None:
        diary = cloud.listener.file(run_id)
        super().__init__(cloud.home, run_id, diary=diary, steps=steps)
        self._cloud = cloud

    def describe(self) -> str:
        """See Life; and what there is in the cloud."""
        machines = self._cloud.machines(self)
        folder = self.home.folder(self.id)
        parts: list[Any] = [super().describe(), *machines]
        parts += [
            f"{name}: {(folder.read(name) or b'')[:300]!r}"
            for name in folder.list("attempts")
            if name.endswith(".json")
        ]
        for one in machines:
            console = Machines(self._cloud.twin.path).console(str(one["id"]), 0)
            parts.append(f"console of {one['id']}: {console[-2000:].decode(errors='replace')}")
        parts += self._cloud.twin.log.read_text(errors="replace").splitlines()[-20:]
        return "\n".join(str(part) for part in parts)


def _run_of(machine: Mapping[str, Any]) -> str:
    return str(machine["labels"].get("windlass-run", ""))


class Cloud:
    """One twin, the home that rents from it, and the runs in it."""

    def __init__(
        self,
        root: Path,
        home: Path,
        *,
        patch: pytest.MonkeyPatch,
        speed: float = 1.0,
        scenario: Mapping[str, Any] | None = None,
    ) -> None:
        self.root = root
        self.lives: list[Life] = []
        self.listener = Listener(root)
        home.mkdir(parents=True, exist_ok=True)
        self.stage = Stage(home, caller=dict(os.environ))
        self.twin = TwinHome(home / "twin")
        (root / "scenario.yaml").write_text(json.dumps(scenario or {}))
        wish = Wish(scenario=root / "scenario.yaml", speed=speed)
        self.clock = self.stage.build(wish)
        for name, value in self.stage.environment().items():
            patch.setenv(name, value)
        for name, value in Access().token_command().items():
            patch.setenv(name, value)
        self.home = Home(home, caller=dict(os.environ))

    # ---- runs ------------------------------------------------------------------------------

    def submit(self, *, without_peer: str = "fail", steps: int = 100, **keys: Any) -> Life:
        """A new run of the trainer; `keys` are of its spec."""
        folder = self._new_folder()
        shutil.copy(trainer.__file__, folder / "trainer.py")
        run = f"{sys.executable} trainer.py --steps {steps} --without-peer {without_peer}"
        work = {"steps": steps, "reference": {"accelerators": "L4", "step_seconds": 0.001}}
        return self.submit_spec(folder, {"run": run, "work": work, **keys}, steps=steps)

    def submit_program(self, program: str, *, steps: int, **keys: Any) -> Life:
        """A new run of a program."""
        folder = self._new_folder()
        (folder / "program.py").write_text(program)
        run = {"run": f"{sys.executable} program.py"}
        return self.submit_spec(folder, {**run, **keys}, steps=steps)

    def submit_spec(self, folder: Path, keys: Mapping[str, Any], *, steps: int) -> Life:
        """A new run, from this process."""
        path = folder / "spec.yaml"
        path.write_text(json.dumps({**SPEC, "env": {"DIARY": self.listener.url}, **keys}))
        spec = load_spec(path)
        catalog = self.home.catalog
        scenario = load_scenario(self.root / "scenario.yaml", catalog=catalog)
        known = outlook(scenario, delays="short", catalog=catalog)
        foresight = Foresight(self.home, spec, path, is_shown=False, circumstances=known)
        chosen = foresight.choose()
        run = self.home.submit(
            path,
            spec,
            emulate=True,
            engine=foresight.engine,
            chosen=chosen,
            others=foresight.others(),
        )
        life = RentedLife(self, run.id, steps=steps)
        self.lives.append(life)
        return life

    def _new_folder(self) -> Path:
        folder = self.root / f"source {len(self.lives)}"
        folder.mkdir()
        return folder

    # ---- what there is ---------------------------------------------------------------------

    def machines(self, life: Life | None = None) -> list[dict[str, Any]]:
        """Every machine that the twin has, whether it runs or not; or those of one run."""
        found: list[dict[str, Any]] = self.stage.ask("GET", "/twin/v1/machines")["machines"]
        return [one for one in found if life is None or _run_of(one) == life.id]

    def usd_of(self, life: Life) -> float:
        """The twin's own bill for what a run's machines have cost, once they have ended."""
        lines = self.stage.ask("GET", "/twin/v1/bill")["lines"]
        return sum(float(line["usd"]) for line in lines if line["run"] == life.id)

    def left(self) -> list[str]:
        """What there is of anybody's, and what `windlass reap` would find."""
        return left_behind(self.stage, self.home)

    def inside(self, machine: Mapping[str, Any], command: str) -> int | None:
        """Run a command in a machine; its status, or None when the machine is gone."""
        try:
            return Machines(self.twin.path).run(str(machine["id"]), command).status
        except Unreachable:
            return None

    # ---- the twin's process ----------------------------------------------------------------

    def kill_twin(self) -> None:
        """SIGKILL to the twin; its machines go on."""
        running = self.twin.running()
        assert running is not None
        handle = os.pidfd_open(running.pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            # Until its last thread has ended: before, it still holds its port.
            select.select([handle], [], [])
        finally:
            os.close(handle)

    def start_twin(self) -> None:
        """The twin again, as it was, on the same port."""
        last = self.twin.last()
        assert last is not None
        options = {name: getattr(last.options, name) for name in type(last.options).__slots__}
        wish = control.Wish(port=last.port, **options)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WINDLASS_")}
        deadline = time.monotonic() + PORT_S
        while True:
            try:
                control.start(self.twin, wish, environment=environment)
                return
            except TwinPortTaken:
                # Whoever calls somewhere just then may have been given it to call from.
                assert time.monotonic() < deadline, f"port {last.port} stays taken"
                time.sleep(0.05)

    # ---- the end ---------------------------------------------------------------------------

    def end_user(self) -> None:
        """SIGKILL to every process of the user's that knows of runs: the laptop is gone."""
        while found := victims.controllers(self.home.path):
            for controller in found:
                victims.kill(controller)
            time.sleep(0.002)

    def close(self) -> None:
        """Kill the controller and the twin, with all of its machines."""
        self.end_user()
        self.home.store().close()
        self.stage.strike()
        self.listener.close()
        self.stage.remove()
