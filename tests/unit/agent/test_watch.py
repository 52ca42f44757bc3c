"""A machine that will be taken away is told so, and its ranks soon after."""

from __future__ import annotations

import hashlib
import io
import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gangs import Gang, until
from windlass.agent import layout
from windlass.twin.messages import Request, Response
from windlass.twin.server.listener import Server


class Metadata:
    """A metadata server whose values a test changes; requests hang as Google's do."""

    def __init__(self) -> None:
        self.values = {"preempted": "FALSE", "maintenance-event": "NONE"}
        self.asked: list[str] = []
        self.is_broken = False
        self._changed = threading.Condition()
        self._server = Server(self._answer, log=io.StringIO())
        self._server.start()
        self.host = f"127.0.0.1:{self._server.port}"

    def set(self, name: str, value: str) -> None:
        with self._changed:
            self.values[name] = value
            self._changed.notify_all()

    def stop(self) -> None:
        self.set("preempted", "OVER")
        self.set("maintenance-event", "OVER")
        self._server.stop(patience_s=0.5)

    def _answer(self, request: Request) -> Response:
        assert request.headers["metadata-flavor"] == "Google"
        name = request.path.rpartition("/")[2]
        self.asked.append(f"{name}?{request.query}")
        if self.is_broken:
            return Response(status=503)
        query = request.queries()
        with self._changed:
            if query.get("wait_for_change"):
                self._changed.wait_for(
                    lambda: _tag(self.values[name]) != query.get("last_etag"),
                    timeout=float(query["timeout_sec"]),
                )
            value = self.values[name]
        return Response(headers=(("ETag", _tag(value)),), content=value.encode())


def _tag(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()[:16]


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    serving = Metadata()
    yield serving
    serving.stop()


@pytest.fixture
def gang(tmp_path: Path, metadata: Metadata) -> Gang:
    command = "trap 'cat \"$WINDLASS_NOTICE\"; exit 75' TERM; echo up; while :; do sleep 0.1; done"
    gang = Gang(tmp_path, command=command, notice_s=20)
    gang.env = {"GCE_METADATA_HOST": metadata.host}
    gang.watch = "metadata"
    return gang


def up(gang: Gang) -> None:
    until(lambda: "up" in gang.log())


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("preempted", "TRUE", "the machine was preempted"),
        ("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE", "goes into maintenance"),
    ],
)
def test_the_ranks_are_warned_as_soon_as_the_cloud_says_so(
    gang: Gang,
    metadata: Metadata,
    record_property: pytest.RecordProperty,
    *,
    name: str,
    value: str,
    reason: str,
) -> None:
    gang.start()
    up(gang)
    until(lambda: len(metadata.asked) >= 4)
    began = time.monotonic()
    metadata.set(name, value)
    said = until(lambda: gang.read(layout.notice(1, gang.claim, 0)))
    took = time.monotonic() - began
    record_property("from the cloud's word to notice.json, s", round(took, 3))
    assert took < 1.0
    assert reason in said["reason"] and said["seconds"] == 20
    gang.wait()
    left = gang.exit()
    assert left is not None and left["outcome"] == "preempted" and left["had_notice"]
    assert '"seconds": 20' in gang.log(), "the file was there before the signal"


def test_the_shutdown_that_follows_does_not_cut_the_notice_short(
    gang: Gang, metadata: Metadata
) -> None:
    gang.write(
        layout.claim_file(1, gang.claim),
        json.dumps(
            {
                **gang.read(layout.claim_file(1, gang.claim)),
                "command": "trap 'sleep 2; echo saved; exit 75' TERM; echo up; "
                "while :; do sleep 0.1; done",
            }
        ),
    )
    gang.start()
    up(gang)
    metadata.set("preempted", "TRUE")
    until(lambda: gang.read(layout.notice(1, gang.claim, 0)))
    gang.signal(signal.SIGTERM)
    gang.wait()
    assert "saved\n" in gang.log()


def test_a_migration_or_a_quiet_machine_warns_nobody(gang: Gang, metadata: Metadata) -> None:
    gang.start()
    up(gang)
    metadata.set("maintenance-event", "MIGRATE_ON_HOST_MAINTENANCE")
    time.sleep(1.5)
    assert gang.read(layout.notice(1, gang.claim, 0)) is None
    assert len(metadata.asked) <= 6, "a request that hangs is not asked again and again"
    gang.signal(signal.SIGUSR1)
    gang.wait()


def test_a_server_that_is_broken_for_a_while_is_asked_again(gang: Gang, metadata: Metadata) -> None:
    metadata.is_broken = True
    gang.start()
    up(gang)
    time.sleep(1.5)
    assert 2 <= len(metadata.asked) <= 8
    metadata.is_broken = False
    metadata.set("preempted", "TRUE")
    until(lambda: gang.read(layout.notice(1, gang.claim, 0)), timeout_s=3)
    gang.wait()


def test_a_machine_without_such_a_server_works(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo hi")
    gang.env = {"GCE_METADATA_HOST": "127.0.0.1:1"}
    gang.watch = "metadata"
    gang.start()
    assert gang.wait() == [0]
    assert gang.log() == "hi\n"
