"""One list tells what a run's nodes have left; what has not changed is not read again."""

from __future__ import annotations

import json

import pytest

import bucket_server
from bucket_server import URL, BucketServer
from windlass.agent import layout
from windlass.agent.bucket import BucketFolder
from windlass.agent.folder import DiskFolder
from windlass.controller.glance import Glance
from windlass.controller.logs import Choice, Follower
from windlass.controller.progress import ProgressFollower

CLAIM = "r-1-0"


@pytest.fixture
def server(tmp_path, monkeypatch):
    with bucket_server.serving(tmp_path / "cloud") as serving:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", serving.url)
        yield serving


@pytest.fixture
def folder(server) -> BucketFolder:
    return BucketFolder(URL, storage=bucket_server.storage())


def asked(server: BucketServer, act) -> int:
    before = len(server.asked)
    act()
    return len(server.asked) - before


def gang(folder, nodes: int) -> list[str]:
    """What 8 nodes with logs leave; the names that a controller reads at every pass."""
    folder.write(layout.winner(1), json.dumps({"claim": CLAIM}).encode())
    for node in range(nodes):
        folder.write(layout.heartbeat(1, CLAIM, node), b'{"beat": 1}')
        folder.write(f"{layout.rank(1, CLAIM, node, node)}/log-00001.txt", b"x\n")
    each = [[layout.exit_file(1, CLAIM, n), layout.heartbeat(1, CLAIM, n)] for n in range(nodes)]
    rest = [layout.winner(1), layout.end(1, CLAIM), layout.gang_notice(1, CLAIM)]
    return [name for names in each for name in names] + rest


def test_a_pass_over_a_gang_is_one_list_and_what_has_changed(
    server, folder, record_property: pytest.RecordProperty
) -> None:
    names = gang(folder, 8)
    memory: dict = {}

    def look() -> None:
        glance = Glance(folder, memory, began_at=0.0)
        for name in names:
            assert glance.read(name) == folder_at(server, name)

    plain = asked(server, lambda: [folder.read(name) for name in names])
    first, again = asked(server, look), asked(server, look)
    folder.write(layout.heartbeat(1, CLAIM, 3), b'{"beat": 2}')
    changed = asked(server, look)
    record_property("requests of a pass over 8 nodes: without glance", plain)
    record_property(
        "requests of a pass over 8 nodes: first, again, one beat", (first, again, changed)
    )
    assert (plain, first, again, changed) == (19, 10, 1, 2)


def folder_at(server: BucketServer, name: str) -> bytes | None:
    if f"home/{name}" not in server.names():
        return None
    return server.client.bytes(f"home/{name}", bucket=bucket_server.BUCKET)


def test_a_disk_is_read_as_ever(tmp_path) -> None:
    folder = DiskFolder(tmp_path)
    glance = Glance(folder, {}, began_at=0.0)
    assert glance.read("attempts/1/winner.json") is None
    folder.write("attempts/1/winner.json", b"{}")
    assert glance.read("attempts/1/winner.json") == b"{}"


def test_an_object_that_goes_while_we_look_is_not_there(server, folder) -> None:
    gang(folder, 1)
    glance = Glance(folder, {}, began_at=0.0)
    assert glance.read(layout.end(1, CLAIM)) is None
    folder.delete(layout.heartbeat(1, CLAIM, 0))
    assert glance.read(layout.heartbeat(1, CLAIM, 0)) is None


def test_logs_are_followed_by_a_list_and_what_has_grown(server, folder) -> None:
    gang(folder, 3)
    follower = Follower(folder, Choice())
    assert len(follower.fresh(1)) == 3
    assert asked(server, lambda: follower.fresh(1)) == 1
    where = layout.rank(1, CLAIM, 1, 1)
    folder.write(f"{where}/log-00001.txt", b"x\ny\n")
    folder.write(f"{where}/log-00002.txt", b"z\n")
    lines = []
    assert asked(server, lambda: lines.extend(follower.fresh(1))) == 3
    assert [line.text for line in lines] == ["y", "z"]
    assert follower.fresh(1, is_last=True) == []


def test_progress_is_followed_by_a_list_and_what_has_grown(server, folder) -> None:
    gang(folder, 1)
    name = f"{layout.rank(1, CLAIM, 0, 0)}/progress-00001.jsonl"
    folder.write(name, b'{"step": 1}\n')
    follower = ProgressFollower(folder)
    assert [record.step for record in follower.fresh(1)] == [1]
    assert asked(server, lambda: follower.fresh(1)) == 1
    folder.write(name, b'{"step": 1}\n{"step": 2}\n')
    assert [record.step for record in follower.fresh(1)] == [2]
