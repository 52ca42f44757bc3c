"""A home folder of the test's own, and the command line as a function."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import pytest

from builders import make_event, make_run
from folders import HandMadeFolder
from windlass.assemble import Home, open_home
from windlass.cli.main import run as run_command
from windlass.spec.canonical import to_json
from windlass.spec.model import Spec, Work
from windlass.state.model import Attempt, Change, Charge, Claim, Run


@dataclass(frozen=True)
class Result:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What --json printed."""
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """What --json printed, line by line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def windlass(capsys: pytest.CaptureFixture[str]):
    """Calls a command in this process, as `main` does."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        status = run_command(list(arguments))
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return call


class Seeded:
    """A home whose rows and run folders are written by hand."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.now = time.time()

    def add(
        self,
        run_id: str,
        *,
        age_s: float = 0.0,
        attempts: tuple[Attempt, ...] = (),
        claims: tuple[Claim, ...] = (),
        charges: tuple[Charge, ...] = (),
        steps: int | None = None,
        **fields: Any,
    ) -> Run:
        """A run of that age, with its attempts, claims and what they cost."""
        store = self.home.store()
        name = fields.pop("name", run_id)
        spec = Spec(name=name, run="python train.py", work=Work(steps=steps) if steps else None)
        created_at = self.now - age_s
        run = make_run(run_id, name=name, spec=to_json(spec), created_at=created_at, **fields)
        store.add_run(run, make_event(run_id, "submitted", at=created_at, message="submitted"))
        if attempts or claims or charges:
            lease = store.take_lease("test", now=self.now, ttl_s=60.0)
            assert lease is not None
            change = Change(run=run, attempts=attempts, claims=claims, charges=charges)
            run = store.write(lease, change)
            store.release_lease(lease)
        return run

    def folder(self, run_id: str) -> HandMadeFolder:
        """The run's folder."""
        return HandMadeFolder(self.home.folders.path(run_id))


@pytest.fixture
def seeded() -> Seeded:
    return Seeded(open_home())
