"""Cloud Storage of the twin killed with SIGKILL during uploads: nothing acknowledged is lost, and
nothing is half there."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import counts
import tree
from buckets import Client, headers
from windlass.ports.clock import SystemClock
from windlass.ports.entropy import SeededEntropy
from windlass.twin.storage.service import Storage

VICTIM = Path(__file__).with_name("storage_victim.py")
ENOUGH_LINES = 400


@pytest.mark.soak
def test_a_killed_service_loses_nothing_that_it_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(7)
    known: dict[str, dict[str, object]] = {}
    acknowledged = 0
    for number in range(counts.KILLS):
        lines = live_and_die(tmp_path, seed=number, lines=chance.randrange(1, ENOUGH_LINES))
        doubtful, sessions = replay(lines, known)
        acknowledged += sum("done" in line for line in lines)
        check(tmp_path, known, doubtful, sessions)
    record_property("kills", counts.KILLS)
    record_property("acknowledged writes", acknowledged)


def live_and_die(folder: Path, *, seed: int, lines: int) -> list[dict[str, object]]:
    """Let a service work until it has said so many lines, kill it, and return all it said."""
    environment = {**os.environ, "PYTHONPATH": str(tree.ROOT / "tests")}
    victim = subprocess.Popen(
        [sys.executable, str(VICTIM), str(folder), str(seed)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert victim.stdout is not None
    with victim, victim.stdout:
        said = [victim.stdout.readline() for _ in range(lines)]
        victim.send_signal(signal.SIGKILL)
        said += victim.stdout.readlines()
    # The last line may have been cut by the kill.
    return [json.loads(line) for line in said if line.endswith(b"\n")]


def replay(
    lines: list[dict[str, object]], known: dict[str, dict[str, object]]
) -> tuple[dict[str, dict[str, object]], list[dict[str, object]]]:
    """What must be there now; what was begun last, by name; and sessions that were not ended."""
    doubtful: dict[str, dict[str, object]] = {}
    sessions: dict[str, dict[str, object]] = {}
    for line in lines:
        name = str(line.get("begin") or line.get("done") or line.get("of") or "")
        if "begin" in line:
            doubtful[name] = line
            # A copy writes its source on the way.
            doubtful[f"{name.partition('/')[0]}/source"] = line
        elif "session" in line:
            sessions[name] = line
        elif "done" in line:
            doubtful.pop(name, None)
            sessions.pop(name, None)
            if line.get("deleted"):
                known.pop(name, None)
            else:
                known[name] = line
    return doubtful, list(sessions.values())


def check(
    folder: Path,
    known: dict[str, dict[str, object]],
    doubtful: dict[str, dict[str, object]],
    sessions: list[dict[str, object]],
) -> None:
    """Open what the dead left, and compare."""
    storage = Storage(folder, clock=SystemClock(), chance=SeededEntropy(1))
    try:
        client = Client(storage)
        for session in sessions:
            response = client.send(str(session["session"]), span="bytes */99999999")
            # Its last chunk may have arrived, unacknowledged.
            if response.status == 308:
                assert headers(response)["range"] == f"bytes=0-{int(str(session['kept'])) - 1}"
            else:
                assert response.status == 200
        found = {item["name"]: item for item in _all(client)}
        for name, item in found.items():
            body = client.bytes(name)
            assert len(body) == int(item["size"])
            assert body == body[:1] * len(body), f"{name} is a mixture"
            _check_name(name, item, body, known, doubtful)
        for name in known.keys() - found.keys():
            assert name in doubtful, f"{name} was acknowledged and is gone"
            del known[name]
        blobs = len(list((folder / "blobs").iterdir()))
        assert blobs <= len(found) + _open_sessions(folder)
    finally:
        storage.close()


def _check_name(
    name: str,
    item: dict[str, object],
    body: bytes,
    known: dict[str, dict[str, object]],
    doubtful: dict[str, dict[str, object]],
) -> None:
    """What is there is what was acknowledged, or what was begun since."""
    begun = doubtful.get(name)
    if name.endswith("/source"):
        return
    expected = known.get(name)
    is_known = expected is not None and expected["generation"] == item["generation"]
    if is_known and expected is not None:
        assert (len(body), body[:1]) == (expected["size"], bytes([int(str(expected["letter"]))]))
        return
    assert begun is not None, f"{name} is none that was acknowledged"
    assert (len(body), body[:1]) == (begun["size"], bytes([int(str(begun["letter"]))]))
    known[name] = {**begun, "generation": item["generation"]}


def _all(client: Client) -> list[dict[str, object]]:
    items: list[dict[str, object]] = client.json("GET", "/storage/v1/b/shelf/o").get("items", [])
    return items


def _open_sessions(folder: Path) -> int:
    """How many sessions still have a blob."""
    with closing(sqlite3.connect(folder / "storage.db")) as database:
        rows = database.execute("SELECT 1 FROM sessions WHERE file IS NOT NULL").fetchall()
    return len(rows)
