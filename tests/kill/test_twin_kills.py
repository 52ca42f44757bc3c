"""A real twin killed with SIGKILL while clients ask it: nothing that it acknowledged is lost, and
nothing that it kept lets anybody in."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import counts
from windlass.twin.server.home import TwinHome

KILLS = 2 * counts.KILLS
PROJECT = "/compute/v1/projects/twin-project"
WRITERS = 2
SECRETS = re.compile(rb"ya29\.twin-[\w-]+|PRIVATE KEY")


class RealTwin:
    """The twin's own process."""

    def __init__(self, home: Path, *more: str) -> None:
        argv = [sys.executable, "-m", "windlass.twin.server.main", "--home", str(home)]
        self.log = home.parent / "log"
        with self.log.open("ab") as log:
            start = log.tell()
            self._process = subprocess.Popen(
                [*argv, "--live", "0", *more], stderr=log, stdout=subprocess.DEVNULL
            )
        self.port = self._port(start)
        self.token = TwinHome(home).token()

    def _port(self, start: int) -> int:
        while True:
            said = self.log.read_bytes()[start:]
            found = re.search(rb"up on 127\.0\.0\.1:(\d+)\n", said)
            if found is not None:
                return int(found[1])
            assert self._process.poll() is None, said.decode()
            try:
                self._process.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                continue

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        self._process.terminate()
        assert self._process.wait(timeout=20) == 0


class Client:
    """One connection."""

    def __init__(self, twin: RealTwin) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", twin.port, timeout=20)
        self._headers = {"Authorization": f"Bearer {twin.token}"}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        raw = None if body is None else json.dumps(body)
        self._connection.request(method, path, body=raw, headers=self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None


@dataclass
class Ledger:
    """What one writer was told."""

    there: dict[str, str] = field(default_factory=dict)
    """Networks that must be there, with the label of their last acknowledged form."""
    doubtful: str = ""
    """What was asked last, without an answer."""
    calls: int = 0


def write(twin: RealTwin, writer: str, ledger: Ledger, chance: random.Random) -> None:
    """Make and delete networks until the twin is gone."""
    with Client(twin) as client:
        _write(client, writer, ledger, chance)


def _write(client: Client, writer: str, ledger: Ledger, chance: random.Random) -> None:
    path = f"{PROJECT}/global/networks"
    while True:
        name = f"{writer}-{chance.randrange(6)}"
        ledger.doubtful = name
        try:
            if name in ledger.there:
                status, _ = client.ask("DELETE", f"{path}/{name}")
            else:
                mark = f"mark-{ledger.calls}"
                body = {"name": name, "description": mark, "autoCreateSubnetworks": False}
                status, _ = client.ask("POST", path, body)
        except (OSError, http.client.HTTPException):
            return
        assert status == 200, status
        if name in ledger.there:
            del ledger.there[name]
        else:
            ledger.there[name] = mark
        ledger.doubtful = ""
        ledger.calls += 1


@pytest.mark.soak
def test_killed_twin_loses_nothing_that_it_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(11)
    home = tmp_path / "twin"
    ledgers = {f"w{number}": Ledger() for number in range(WRITERS)}
    twin = RealTwin(home)
    for number in range(KILLS):
        threads = [
            threading.Thread(target=write, args=(twin, name, ledger, random.Random(number)))
            for name, ledger in ledgers.items()
        ]
        for thread in threads:
            thread.start()
        threads[0].join(timeout=chance.uniform(0.02, 0.4))
        twin.kill()
        for thread in threads:
            thread.join()
        twin = RealTwin(home)
        check(twin, ledgers)
    twin.end()
    record_property("kills", KILLS)
    record_property("acknowledged calls", sum(one.calls for one in ledgers.values()))
    assert all(one.calls > KILLS for one in ledgers.values())
    _check_files(home, twin)


def check(twin: RealTwin, ledgers: dict[str, Ledger]) -> None:
    """What is there is what was acknowledged; only the last call may have gone either way."""
    with Client(twin) as client:
        status, listed = client.ask("GET", f"{PROJECT}/global/networks")
    assert status == 200
    found = {one["name"]: one.get("description", "") for one in listed["items"]}
    for writer, ledger in ledgers.items():
        mine = {name: mark for name, mark in found.items() if name.startswith(f"{writer}-")}
        doubtful = ledger.doubtful
        expected = {name: mark for name, mark in ledger.there.items() if name != doubtful}
        assert {name: mark for name, mark in mine.items() if name != doubtful} == expected
        ledger.there = mine
        ledger.doubtful = ""


def _check_files(home: Path, twin: RealTwin) -> None:
    """Nobody else reads them, and what is kept opens nothing."""
    database = home / "state.db"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    for path in (database, home / "state.db-wal", twin.log):
        raw = path.read_bytes() if path.exists() else b""
        assert not SECRETS.search(raw), path
        assert twin.token.encode() not in raw


def test_no_token_is_in_the_log_or_in_what_is_recorded(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    twin = RealTwin(tmp_path / "twin", "--record", str(record))
    with Client(twin) as client:
        accounts = "/iam/v1/projects/twin-project/serviceAccounts"
        status, account = client.ask("POST", accounts, {"accountId": "robot-1"})
        assert status == 200, account
        status, key = client.ask("POST", f"{accounts}/{account['email']}/keys", {})
        assert status == 200
        member = {"role": "roles/iam.serviceAccountTokenCreator", "members": ["allUsers"]}
        policy = {"policy": {"bindings": [member]}}
        client.ask("POST", f"{accounts}/{account['email']}:setIamPolicy", policy)
        minting = f"/iamcredentials/v1/projects/-/serviceAccounts/{account['email']}"
        status, minted = client.ask("POST", f"{minting}:generateAccessToken", {"scope": ["x"]})
        assert status == 200, minted
        status, _ = client.ask("GET", f"{PROJECT}?access_token={twin.token}")
        assert status == 200
    twin.end()
    for path in (record, twin.log):
        raw = path.read_bytes()
        for secret in (twin.token, minted["accessToken"], key["privateKeyData"]):
            assert secret.encode() not in raw
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["status"] for line in lines] == [200] * 5
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
