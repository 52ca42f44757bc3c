"""A home with real runs of the trainer, and everything a test wants to know of one.

Must not kill anything while a test goes on: the stories do.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kill import trainer, victims
from windlass.assemble import Home
from windlass.spec.load import load_spec
from windlass.state.model import Attempt, Run
from windlass.state.phases import is_ended

STEPS = 100
PATIENCE_S = 180.0
"""For one run, kills and all. It takes seconds; a loaded machine may take much longer."""

SPEC = """\
name: count
run: {python} trainer.py --steps {steps} --without-peer {way}
launch: plain
resources: {{nodes: 2, cpus: 0.1}}
work: {{steps: {steps}}}
env: {{DIARY: {diary}}}
limits: {{restarts: 30, ttl: 30m}}
"""

Story = Iterator[None]
"""What happens to one run: does a little, yields, and is called again soon."""


class Life:
    """One run of the trainer, from the outside."""

    patience_s = PATIENCE_S

    def __init__(self, home: Home, run_id: str, *, diary: Path, steps: int) -> None:
        self.home = home
        self.id = run_id
        self.steps = steps
        self.is_watched = False
        """Whether somebody waits for it who would start the controller again."""
        self.began_at = time.monotonic()
        self._diary = diary
        self._read = 0
        self._said: list[dict[str, Any]] = []

    @property
    def run(self) -> Run:
        found = self.home.store().get_run(self.id)
        assert found is not None, f"{self.id} is not in the store any more"
        return found

    @property
    def has_ended(self) -> bool:
        return is_ended(self.run.phase)

    @property
    def attempts(self) -> list[Attempt]:
        return list(self.home.store().list_attempts(self.id))

    def claim(self) -> str:
        """The newest claim."""
        return f"{self.id}-{self.run.attempt}-0"

    def diary(self) -> list[dict[str, Any]]:
        """What the ranks of all attempts said, in the order in which it happened."""
        if self._diary.exists():
            with self._diary.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._read += len(whole)
            self._said += [json.loads(line) for line in whole.splitlines()]
        return self._said

    def said(self, what: str, *, attempt: int, step: int = 0) -> bool:
        """Whether a rank of the attempt has said so, of this step or a later one."""
        return any(
            line["what"] == what and line["attempt"] == attempt and line["step"] >= step
            for line in reversed(self.diary())
        )

    def last_step(self, attempt: int) -> int:
        """The last step that the attempt did; 0 when none."""
        return max((x["step"] for x in self.diary() if x["attempt"] == attempt), default=0)

    def wait_for_end(self) -> Story:
        """Until the run has ended, by itself."""
        while not self.has_ended:
            if time.monotonic() - self.began_at > self.patience_s:
                raise AssertionError(f"{self.id} has not ended\n{self.describe()}")
            yield

    def describe(self) -> str:
        """All there is to know, for whoever has to find out what went wrong."""
        store = self.home.store()
        log = self.home.path / "controller.log"
        parts: list[Any] = [self.run, *self.attempts, *store.list_claims(self.id)]
        parts += [
            f"{event.at:.3f} attempt {event.attempt} {event.code}: {event.message}"
            for event in store.list_events(self.id)
        ]
        parts += self.diary()[-20:]
        parts += [f"left: {victim}" for victim in victims.gang(self.claim())]
        parts += log.read_text(errors="replace").splitlines()[-40:] if log.exists() else []
        return "\n".join(str(part) for part in parts)


class Arena:
    """One home, its controller, and the runs in it."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = Home(home, caller=dict(os.environ))
        self.lives: list[Life] = []
        home.mkdir(parents=True, exist_ok=True)

    def submit(self, *, without_peer: str, steps: int = STEPS) -> Life:
        """A new run, from this process."""
        spec, diary = self._write_spec(without_peer=without_peer, steps=steps)
        run = self.home.submit(spec, load_spec(spec))
        return self._add(run.id, diary=diary, steps=steps)

    def submit_attached(
        self, *, without_peer: str, steps: int = STEPS
    ) -> tuple[Life, subprocess.Popen[bytes]]:
        """A new run that somebody watches: the command `windlass run`."""
        spec, diary = self._write_spec(without_peer=without_peer, steps=steps)
        known = {life.id for life in self.lives}
        command = [sys.executable, "-m", "windlass", "run", str(spec)]
        env = {**self.home.caller, "WINDLASS_HOME": str(self.home.path)}
        with (spec.parent / "watched.txt").open("wb") as output:
            watcher = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        while True:
            fresh = [run for run in self.home.store().list_runs() if run.id not in known]
            if fresh:
                life = self._add(fresh[0].id, diary=diary, steps=steps)
                life.is_watched = True
                return life, watcher
            assert watcher.poll() is None, (spec.parent / "watched.txt").read_text()
            time.sleep(0.01)

    def _write_spec(self, *, without_peer: str, steps: int) -> tuple[Path, Path]:
        folder = self.root / f"source {len(self.lives)}"
        folder.mkdir()
        shutil.copy(trainer.__file__, folder / "trainer.py")
        diary = self.root / f"diary {len(self.lives)}.jsonl"
        spec = folder / "count.yaml"
        spec.write_text(
            SPEC.format(
                python=shlex.quote(sys.executable),
                steps=steps,
                way=without_peer,
                diary=json.dumps(str(diary)),
            )
        )
        return spec, diary

    def _add(self, run_id: str, *, diary: Path, steps: int) -> Life:
        life = Life(self.home, run_id, diary=diary, steps=steps)
        self.lives.append(life)
        return life

    def close(self) -> None:
        """Kill the controller and whatever a failed test has left."""
        store = self.home.store()
        for _ in range(200):
            claims = [claim.id for life in self.lives for claim in store.list_claims(life.id)]
            left = victims.controllers(self.home.path)
            left += [victim for claim in claims for victim in victims.gang(claim)]
            if not left:
                break
            for victim in left:
                victims.kill(victim)
            time.sleep(0.02)
        store.close()
