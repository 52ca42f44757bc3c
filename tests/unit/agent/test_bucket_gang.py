"""Real agents whose run folder is in a bucket: prompt, sparing, and safe when the bucket fails."""

from __future__ import annotations

import hashlib
import io
import json
import signal
import tarfile
import time
from pathlib import Path

import pytest

from bucket_server import BucketServer
from gangs import BucketGang, until
from windlass.agent import layout, node, storage

# A lease of seconds, so that a test of being cut off is one too.
SHORT_LEASE = (
    "node.LEASE_S, node.LEASE_WARNING_S = 8.0, 4.0\n"
    "from windlass.agent import storage\n"
    "storage.Storage.__init__.__kwdefaults__['patience_s'] = 1.0"
)


def running(gang: BucketGang) -> None:
    until(lambda: (gang.heartbeat() or {}).get("state") == "running")


def test_a_run_over_a_bucket_ends_like_one_over_a_disk(
    tmp_path: Path, server: BucketServer
) -> None:
    gang = BucketGang(tmp_path, server, nodes=2, setup="echo getting ready", command="echo hi; pwd")
    gang.start_all()
    assert gang.wait() == [0, 0]
    for index in range(2):
        said = gang.exit(index)
        assert said is not None and said["outcome"] == "succeeded"
        assert gang.log(rank=index, node=index).startswith("hi\n")
        assert gang.setup_log(index) == "getting ready\n"


def test_the_source_comes_out_of_the_bucket(tmp_path: Path, server: BucketServer) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        member = tarfile.TarInfo("train.sh")
        member.size = 12
        archive.addfile(member, io.BytesIO(b"echo trained"))
    sha = hashlib.sha256(buffer.getvalue()).hexdigest()
    gang = BucketGang(tmp_path, server, source=sha, command="sh train.sh")
    server.client.put(f"home/{layout.source(sha)}", buffer.getvalue(), bucket="runs")
    gang.start()
    assert gang.wait() == [0]
    assert gang.log() == "trained\n"


def test_lines_are_in_the_bucket_soon_and_in_few_objects(
    tmp_path: Path, server: BucketServer, record_property: pytest.RecordProperty
) -> None:
    gang = BucketGang(
        tmp_path, server, command="while :; do date +%s.%N; sleep 0.1; done", notice_s=1
    )
    gang.start()
    running(gang)
    time.sleep(2.0)
    server.asked.clear()
    lateness = []
    began = time.monotonic()
    seen = ""
    while time.monotonic() - began < 6.0:
        said = gang.log()
        now = time.time()
        lateness += [now - float(line) for line in said[len(seen) :].split()]
        seen = said
        time.sleep(0.02)
    per_s = len(server.asked) / (time.monotonic() - began)
    gang.signal(signal.SIGUSR1)
    gang.wait()
    record_property("requests of an agent, per s", round(per_s, 2))
    record_property("longest wait of a line, s", round(max(lateness), 2))
    assert len(seen.split()) > 40
    assert max(lateness) < 2.5
    assert per_s < 4.0
    assert len([name for name in server.names() if "/log-" in name]) == 1


def test_a_request_is_answered_through_the_bucket(tmp_path: Path, server: BucketServer) -> None:
    gang = BucketGang(tmp_path, server, command="sleep 1000")
    gang.start()
    running(gang)
    where = f"{layout.requests(1, gang.claim, 0)}/a"
    gang.write(f"{where}/request.json", json.dumps({"command": "echo hi; exit 3", "time": 1.0}))
    began = time.monotonic()
    said = until(lambda: gang.read(f"{where}/exit.json"))
    assert said["status"] == 3 and gang.chunks(where) == b"hi\n"
    assert time.monotonic() - began < 3.0
    gang.signal(signal.SIGUSR1)
    gang.wait()


def test_an_agent_that_is_cut_off_ends_its_ranks_before_its_lease_does(
    tmp_path: Path, server: BucketServer, record_property: pytest.RecordProperty
) -> None:
    """The bucket takes every request and answers none: the worst kind of dead."""
    told = tmp_path / "told"
    command = f"trap 'date +%s.%N > {told}; exit 1' TERM; while :; do echo x; sleep 0.1; done"
    gang = BucketGang(tmp_path, server, command=command)
    gang.start(changes=SHORT_LEASE)
    running(gang)
    time.sleep(1.0)
    with server.hung():
        began = time.time()
        gang.wait(20.0)
        took = time.time() - began
    record_property("told to end after, s", round(float(told.read_text()) - began, 1))
    assert 2.0 < float(told.read_text()) - began < 8.0
    assert took < 12.0
    assert gang.exit() is None


def test_an_agent_outlives_a_bucket_that_is_away_for_a_while(
    tmp_path: Path, server: BucketServer
) -> None:
    gang = BucketGang(tmp_path, server, command="for i in 1 2 3 4 5 6; do echo $i; sleep 1; done")
    gang.start()
    running(gang)
    with server.hung():
        time.sleep(3.0)
    assert gang.wait() == [0]
    assert gang.log() == "1\n2\n3\n4\n5\n6\n"


def test_a_second_start_of_a_node_is_refused(tmp_path: Path, server: BucketServer) -> None:
    gang = BucketGang(tmp_path, server, command="sleep 1000", notice_s=1)
    first = gang.start()
    running(gang)
    gang.signal(signal.SIGKILL)  # The machine's power is cut, and it comes back.
    first.wait()
    beat = until(lambda: gang.heartbeat())
    assert gang.start().wait(10) == 0
    assert gang.heartbeat() == beat


def test_the_pace_leaves_room_for_the_lease() -> None:
    """A request that begins just before the ranks have to be told: to connect, to send and to
    hear may each take the shortest time once the patience is over."""
    longest_s = storage.PATIENCE_S + 3 * storage.SHORTEST_TRY_S + storage.REST_S
    assert node.LEASE_WARNING_S + longest_s < node.LEASE_S - node.GANG_GRACE_S
