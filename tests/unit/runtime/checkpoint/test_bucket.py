"""Checkpoints in a bucket: the same promises as on a disk, over a bad network."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import counts
from bucket_server import BUCKET, BucketServer, cut_after, lost_reply, lost_request, refusal
from windlass.runtime import CheckpointDamaged, Checkpointer, CheckpointFailed, Options
from windlass.runtime.checkpoint import bucket as buckets
from windlass.runtime.checkpoint import manifest, reading, tree

TO = f"gs://{BUCKET}/ckpt"
SMALL_FILES = Options(file_bytes_max=50_000, checksum="crc32")


def state(step: int) -> dict[str, object]:
    return {"w": np.full(20_000, step), "step": step}


def is_state(found, step: int) -> bool:
    return (
        found.step == step
        and found.state["step"] == step
        and found.state["w"].tolist() == [step] * 20_000
    )


def saved(*steps: int, **more) -> Checkpointer:
    checkpoints = Checkpointer(TO, options=SMALL_FILES, **more)
    for step in steps:
        assert checkpoints.save(step, state(step))
    return checkpoints


def data_of(server: BucketServer, step: int) -> list[str]:
    return [name for name in server.names() if name.startswith(f"ckpt/{step}/a")]


def test_what_was_saved_is_restored(server: BucketServer) -> None:
    assert Checkpointer(TO).restore() is None
    checkpoints = saved(1, 2)
    assert not checkpoints.save(2, state(2)), "it stands already"
    assert checkpoints.steps() == [1, 2] and checkpoints.latest() == 2
    assert is_state(Checkpointer(TO).restore(), 2)
    assert len(data_of(server, 2)) == 4


def test_only_the_newest_stay_and_nothing_else_is_left(server: BucketServer) -> None:
    assert saved(1, 5, 10, 100, keep=2).steps() == [10, 100]
    assert {name.split("/")[1] for name in server.names()} == {"10", "100"}


@pytest.mark.parametrize("trouble", [lost_reply, lost_request, refusal(503), refusal(429)])
@pytest.mark.parametrize("after", range(0, 8, 2))
def test_a_bad_network_changes_nothing(server: BucketServer, trouble, after: int) -> None:
    def fine(request, answer):
        return answer(request)

    checkpoints = saved(1)
    server.next(*[fine] * after, trouble)
    assert checkpoints.save(2, state(2))
    assert is_state(Checkpointer(TO).restore(), 2)


def test_large_files_that_are_cut_on_the_way_arrive(server: BucketServer) -> None:
    large = {"w": np.arange(3_000_000)}
    server.next(cut_after(1 << 20), cut_after(3 << 20), method="PUT")
    Checkpointer(TO).save(1, large)
    assert (Checkpointer(TO).restore().state["w"] == large["w"]).all()


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "spoil", [flip, lambda content: content[:-2], lambda content: None], ids=["flip", "cut", "gone"]
)
@pytest.mark.parametrize("which", ["data", "manifest"])
def test_a_byte_that_is_not_as_it_was_is_found_and_the_one_before_is_used(
    server: BucketServer, spoil, which: str
) -> None:
    saved(1, 2)
    name = data_of(server, 2)[1] if which == "data" else f"ckpt/2/{manifest.NAME}"
    content = spoil(server.client.bytes(name, bucket=BUCKET))
    if content is None:
        server.client.delete(name, bucket=BUCKET)
    else:
        server.client.put(name, content, bucket=BUCKET)
    checkpoints = Checkpointer(TO, options=SMALL_FILES)
    assert is_state(checkpoints.restore(), 1)
    assert checkpoints.save(2, state(2)), "it is replaced"
    assert is_state(Checkpointer(TO).restore(), 2)


def test_when_not_one_is_whole_nothing_begins_again(server: BucketServer) -> None:
    saved(1)
    server.client.put(data_of(server, 1)[0], b"torn", bucket=BUCKET)
    with pytest.raises(CheckpointDamaged, match=TO):
        Checkpointer(TO).restore()


def test_a_bucket_that_is_away_is_not_taken_for_damage(server: BucketServer, monkeypatch) -> None:
    """An outage must not send the run back to an older checkpoint."""
    saved(1, 2)
    monkeypatch.setattr(buckets, "PATIENCE_S", 0.5)
    checkpoints = Checkpointer(TO)
    server.next(*[refusal(503)] * 100)
    with pytest.raises(CheckpointFailed, match="503"):
        checkpoints.restore()


def test_a_save_that_fails_says_so_and_leaves_nothing(server: BucketServer, monkeypatch) -> None:
    monkeypatch.setattr(buckets, "PATIENCE_S", 0.5)
    checkpoints = saved(1)
    server.next(refusal(403), method="POST")
    with pytest.raises(CheckpointFailed, match="403") as caught:
        checkpoints.save(2, state(2))
    assert "may write to it" in caught.value.remedy
    assert data_of(server, 2) == []
    assert is_state(Checkpointer(TO).restore(), 1)


def test_a_bucket_that_is_not_there_is_named(server: BucketServer) -> None:
    with pytest.raises(CheckpointFailed, match="gs://nowhere-at-all/c"):
        Checkpointer("gs://nowhere-at-all/c").restore()


def test_what_earlier_attempts_left_is_swept(server: BucketServer, monkeypatch) -> None:
    server.client.put("ckpt/5/a1-w0-aa-0001.bin", b"half", bucket=BUCKET)
    server.client.put("ckpt/5/a3-w0-aa-0001.bin", b"half", bucket=BUCKET)
    server.client.put("ckpt/6/notes.txt", b"the user's", bucket=BUCKET)
    monkeypatch.setenv("WINDLASS_ATTEMPT", "2")
    saved(7)
    left = [name for name in server.names() if not name.startswith("ckpt/7/")]
    assert left == ["ckpt/5/a3-w0-aa-0001.bin", "ckpt/6/notes.txt"]


def test_rivals_never_mix_their_bytes(server: BucketServer, monkeypatch) -> None:
    rivals = []
    for number in (1, 2):
        monkeypatch.setenv("WINDLASS_ATTEMPT", str(number))
        rivals.append(Checkpointer(TO, keep=100, options=SMALL_FILES))
    won: list[list[int]] = [[], []]

    def save_all(index: int) -> None:
        for step in range(1, 6):
            if rivals[index].save(step, {"w": np.full(9_000, index), "who": index}):
                won[index].append(step)

    threads = [threading.Thread(target=save_all, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(won[0] + won[1]) == [1, 2, 3, 4, 5]
    shelf = buckets.BucketShelf(TO)
    for step in range(1, 6):
        found = buckets_state(shelf, step)
        assert step in won[found["who"]] and found["w"].tolist() == [found["who"]] * 9_000


def buckets_state(shelf, step: int):
    return reading.load(shelf.at(step), tree.FREE)


def test_writers_share_a_save(server: BucketServer) -> None:
    pair = [Checkpointer(TO, writer=(index, 2), options=Options(wait_s=20)) for index in (0, 1)]
    whole = {"w": np.arange(1000.0)}
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda one=one: results.append(one.save(1, whole))) for one in pair
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results == [True, True]
    assert (Checkpointer(TO).restore().state["w"] == whole["w"]).all()
    assert not [name for name in server.names() if "part-" in name]


def test_a_save_takes_few_requests(
    server: BucketServer, record_property: pytest.RecordProperty
) -> None:
    checkpoints = saved(1, 2, 3, 4, keep=3)
    server.asked.clear()
    checkpoints.save(5, {"w": np.zeros(10)})
    record_property("requests of a save with one data file", len(server.asked))
    assert len(server.asked) <= 20


SAVING = """
import sys
import numpy as np
from windlass.runtime import Checkpointer, Options
checkpoints = Checkpointer(sys.argv[1], keep=2, options=Options(file_bytes_max=50_000))
found = checkpoints.restore()
step = 0 if found is None else found.step
while True:
    step += 1
    checkpoints.save(step, {"w": np.full(20_000, step), "step": step})
    print(step, flush=True)
"""


@pytest.mark.soak
def test_sigkill_at_any_moment_never_loses_a_committed_checkpoint(
    server: BucketServer, record_property: pytest.RecordProperty
) -> None:
    chance = random.Random(7)
    committed = 0
    kills = max(4, counts.KILLS // 2)
    for attempt in range(1, kills + 1):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVING, TO],
            env={
                **os.environ,
                "PYTHONPATH": ":".join(sys.path),
                "WINDLASS_ATTEMPT": str(attempt),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        committed = max(committed, int(process.stdout.readline()))
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        committed = max([committed, *map(int, out.split())])
        found = Checkpointer(TO).restore()
        assert found is not None and found.step >= committed
        assert is_state(found, found.step)
    record_property("kills", kills)
    left = {name.split("/")[1] for name in server.names()}
    assert len(left) <= 6
