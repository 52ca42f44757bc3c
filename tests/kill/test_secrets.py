"""A secret on rented machines, from Secret Manager to the rank, and into nothing else."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsals import command, environment, real_machines

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
VALUE = "hf-a-value-that-is-nowhere-else"
KEPT = "everything is kept in "
SHOW = "import os; token = os.environ['TOKEN']; print('length', len(token), 'value', token)"


def test_a_rank_has_the_secret_and_nothing_else_does(tmp_path: Path) -> None:
    words = command(
        tmp_path,
        {},
        "--keep",
        steps=1,
        run=f'{sys.executable} -c "{SHOW}"',
        setup="echo setup has ${#TOKEN}",
        secrets={"TOKEN": "HF_TOKEN"},
    )
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env={**environment(tmp_path), "HF_TOKEN": VALUE},
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert f"setup has {len(VALUE)}" in said and f"length {len(VALUE)} value ***" in said
    assert VALUE not in said
    stage = Path(done.stderr.rpartition(KEPT)[2].strip())
    encoded = base64.b64encode(VALUE.encode())
    holders = [
        path.relative_to(stage).as_posix()
        for path in stage.rglob("*")
        if path.is_file() and _holds(path.read_bytes(), VALUE.encode(), encoded)
    ]
    assert holders in (["twin/state.db"], ["twin/state.db-wal"]), "Secret Manager's own, encoded"
    assert VALUE.encode() not in (stage / holders[0]).read_bytes()


def _holds(content: bytes, *values: bytes) -> bool:
    return any(value in content for value in values)
