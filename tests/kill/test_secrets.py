"""A secret on rented machines, from Secret Manager to the rank, and into nothing else."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counts import REHEARSALS
from rehearsals import command, environment, real_machines

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
only_in_soak = pytest.mark.skipif(REHEARSALS == 1, reason="a longer check: `make soak` does it")
VALUE = "hf-a-value-that-is-nowhere-else"
ENCODED = base64.b64encode(VALUE.encode())
KEPT = "everything is kept in "
PROGRAM = """
import json, os
token = os.environ["TOKEN"]
print("length", len(token), "value", token)
def of(pid, what):
    try:
        with open(f"/proc/{pid}/{what}", "rb") as file:
            return file.read()
    except OSError:
        return b""
seen = [pid for pid in os.listdir("/proc") if pid.isdecimal() and of(pid, "environ")]
told = [pid for pid in seen if token.encode() in of(pid, "cmdline")]
have = [pid for pid in seen if token.encode() in of(pid, "environ")]
ours = [pid for pid in have if b"WINDLASS_RANK=" in of(pid, "environ")]
others = sorted({*have} - {*ours})
print("processes", json.dumps(dict(seen=len(seen), ours=ours, told=told, others=others)))
"""
"""What a rank has, and who else on its machine: in a command line, or in the environment of what is
no rank, such as the start-up script and the agent."""


def test_a_rank_has_the_secret_and_nothing_else_does(tmp_path: Path) -> None:
    assert_only_ranks_have_it(tmp_path, ranks=1)


ELSEWHERE = {
    "slice": ({"accelerators": "v5e-16"}, {"engines": ["tpu"], "buy": ["spot"]}, 4),
    "replicas": ({"accelerators": "L4", "nodes": 2}, {"engines": ["vertex"], "buy": ["spot"]}, 2),
}


@only_in_soak
@pytest.mark.soak
@pytest.mark.parametrize(("resources", "where", "ranks"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_ranks_of_other_engines_have_it_and_nothing_else_does(
    tmp_path: Path, resources: dict[str, Any], where: dict[str, Any], ranks: int
) -> None:
    assert_only_ranks_have_it(tmp_path, resources=resources, where=where, ranks=ranks)


def assert_only_ranks_have_it(folder: Path, *, ranks: int, **spec: Any) -> None:
    """Rehearse a spec with the secret, keep everything, and look everywhere."""
    secret: dict[str, Any] = {"setup": "echo setup has ${#TOKEN}", "secrets": {"TOKEN": "HF_TOKEN"}}
    words = command(folder, {}, "--keep", steps=1, **secret, **spec)
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        words,
        cwd=folder,
        env={**environment(folder), "HF_TOKEN": VALUE},
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert f"setup has {len(VALUE)}" in said and VALUE not in said
    assert said.count(f"length {len(VALUE)} value ***") == ranks, said
    found = [json.loads(text) for text in re.findall(r"processes (\{.*\})", said)]
    assert len(found) == ranks, said
    assert all(one["seen"] > len(one["ours"]) > 0 for one in found), "more than ranks was looked at"
    assert all(one["told"] == one["others"] == [] for one in found), found
    stage = Path(done.stderr.rpartition(KEPT)[2].strip())
    files = [path for path in stage.rglob("*") if path.is_file()]
    assert [path for path in files if VALUE.encode() in path.read_bytes()] == []
    encoded = [path for path in files if ENCODED in path.read_bytes()]
    assert all(path.match("twin/state.db*") for path in encoded), encoded
    assert set(_records_with_it(stage / "twin" / "state.db")) == {"secretmanager.versions"}


def _records_with_it(state: Path) -> Iterator[str]:
    with sqlite3.connect(state) as connection:
        for shelf, key, value in connection.execute("select shelf, key, value from record"):
            if ENCODED.decode() in f"{key} {value}":
                yield shelf
