"""A save happens as a whole or not at all: on a full disk, under SIGKILL, and against others."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import counts
from windlass.runtime import Checkpointer, CheckpointFailed, CheckpointRefused, Options
from windlass.runtime.checkpoint import manifest, reading
from windlass.runtime.checkpoint.disk import DiskPlace

SMALL_FILES = Options(file_bytes_max=50_000, checksum="crc32")


def program(text, *arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, arguments)],
        env={"PYTHONPATH": ":".join(sys.path), "PATH": os.defpath, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- a full disk --------------------------------------------------------------------------------

FULL_DISK = """
import pathlib, sys
import numpy as np
from windlass.runtime import Checkpointer, CheckpointFailed, Options

root = pathlib.Path(sys.argv[1])
checkpoints = Checkpointer(root / "c", keep=100, options=Options(file_bytes_max=8192))

def state(step):
    return {"w": np.full(5000, step, np.int64), "step": step}

filler, failures, room = root / "filler", 0, 0
checkpoints.save(1, state(1))
for step in range(2, 42):
    filler.unlink(missing_ok=True)
    try:
        with open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass
    with open(filler, "r+b") as file:
        file.truncate(max(0, filler.stat().st_size - 4096 * (step - 2)))
    before = sorted(path.name for path in (root / "c").iterdir())
    try:
        checkpoints.save(step, state(step))
    except CheckpointFailed as failure:
        failures += 1
        assert "40000 bytes" in failure.message and str(root / "c") in failure.message, failure
        assert "No space left" in failure.message and "Free some space" in failure.remedy
        assert sorted(path.name for path in (root / "c").iterdir()) == before
    found = Checkpointer(root / "c").restore()
    assert found.step == max(checkpoints.steps())
    assert found.state["w"].tolist() == [found.step] * 5000
filler.unlink()
assert checkpoints.save(50, state(50)) and checkpoints.latest() == 50
print(failures, len(checkpoints.steps()))
"""


def test_a_full_disk_loses_nothing_committed(tmp_path):
    """A real one of 2 MB, filled up to another page each time: whatever is written next fails."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no `unshare` to mount a small disk with")
    script = 'mount -t tmpfs -o size=2m tmpfs "$1" || exit 77; exec "$2" -c "$3" "$1"'
    mapped = [] if os.geteuid() == 0 else ["--map-root-user"]
    shell = ["unshare", "--mount", *mapped, "sh", "-c", script, "sh"]
    done = subprocess.run(
        [*shell, str(tmp_path), sys.executable, FULL_DISK],
        env={"PYTHONPATH": ":".join(sys.path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    failures, steps = map(int, done.stdout.split())
    assert failures >= 5 and steps >= 5, "both ways out were taken"


BOUNDED = """
import resource, signal, sys
import numpy as np
from windlass.runtime import Checkpointer, CheckpointFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
checkpoints = Checkpointer(sys.argv[1])
checkpoints.save(1, np.arange(100))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
try:
    checkpoints.save(2, np.arange(100_000))
except CheckpointFailed as failure:
    print(failure.message)
"""


def test_a_disk_that_takes_only_a_part_of_a_file_loses_nothing_committed(tmp_path):
    said = finished(program(BOUNDED, tmp_path))
    assert "File too large" in said and "800000 bytes" in said
    assert names(tmp_path) == ["1"]
    assert Checkpointer(tmp_path).restore().state.tolist() == list(range(100))


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckpointFailed, match="Not a directory") as caught:
        Checkpointer(tmp_path / "file" / "c").save(1, np.zeros(3))
    assert str(tmp_path / "file" / "c") in caught.value.message


def test_an_interrupted_save_takes_its_files_back(tmp_path):
    def interrupt(_number, _frame):
        if len(list(tmp_path.rglob("a0-*.bin"))) < 3:
            signal.setitimer(signal.ITIMER_REAL, 0.005)  # Not in the middle yet.
            return
        raise KeyboardInterrupt

    checkpoints = Checkpointer(tmp_path, options=Options(file_bytes_max=1_000_000))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(KeyboardInterrupt):
            checkpoints.save(1, np.zeros(8_000_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert names(tmp_path) == []


# ---- killed -------------------------------------------------------------------------------------

SAVING = """
import sys
import numpy as np
from windlass.runtime import Checkpointer, Options
checkpoints = Checkpointer(sys.argv[1], keep=2, options=Options(file_bytes_max=50_000))
found = checkpoints.restore()
step = 0 if found is None else found.step
while True:
    step += 1
    checkpoints.save(step, {"w": np.full(50_000, step), "step": step})
    print(step, flush=True)
"""


@pytest.mark.soak
def test_sigkill_at_any_moment_never_loses_a_committed_checkpoint(tmp_path, record_property):
    chance = random.Random(7)
    committed = 0
    for attempt in range(1, counts.KILLS + 1):
        process = program(SAVING, tmp_path, WINDLASS_ATTEMPT=str(attempt))
        committed = max(committed, int(process.stdout.readline()))
        time.sleep(chance.uniform(0, 0.04))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        committed = max([committed, *map(int, out.split())])
        found = Checkpointer(tmp_path).restore()
        assert found.step >= committed
        assert found.state["step"] == found.step
        assert found.state["w"].tolist() == [found.step] * 50_000
    record_property("kills", counts.KILLS)
    # One more attempt clears away what the killed ones left.
    process = program(SAVING, tmp_path, WINDLASS_ATTEMPT=str(counts.KILLS + 1))
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    whole = [step for step in names(tmp_path) if (tmp_path / step / manifest.NAME).exists()]
    assert len(whole) <= 4 and len(names(tmp_path)) <= 5


# ---- against others -----------------------------------------------------------------------------


def attempts(monkeypatch, folder, *numbers, **options):
    made = []
    for number in numbers:
        monkeypatch.setenv("WINDLASS_ATTEMPT", str(number))
        made.append(Checkpointer(folder, keep=1000, options=SMALL_FILES, **options))
    return made


@pytest.mark.parametrize("numbers", [(1, 2), (3, 3)], ids=["two attempts", "the same number twice"])
def test_attempts_that_save_the_same_step_never_mix_their_bytes(tmp_path, monkeypatch, numbers):
    rivals = attempts(monkeypatch, tmp_path, *numbers)
    steps, won = range(1, 31), [[], []]
    barrier = threading.Barrier(2)

    def save_all(index):
        for step in steps:
            barrier.wait(timeout=60)
            state = {"w": np.full(20_000, index), "who": index}
            if rivals[index].save(step, state):
                won[index].append(step)

    threads = [threading.Thread(target=save_all, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert sorted(won[0] + won[1]) == list(steps), "exactly one commits each step"
    for step in steps:
        reading.verify(DiskPlace(tmp_path / str(step)))
        state = reading.load(DiskPlace(tmp_path / str(step)), reading.tree.FREE)
        assert step in won[state["who"]]
        assert state["w"].tolist() == [state["who"]] * 20_000
        assert len(names(tmp_path / str(step))) == 5, "the loser has removed its files"


# ---- several writers ----------------------------------------------------------------------------


def save_together(checkpointers, step, states):
    results = [None] * len(checkpointers)

    def save(index):
        try:
            results[index] = checkpointers[index].save(step, states[index])
        except CheckpointFailed as failure:
            results[index] = failure

    threads = [threading.Thread(target=save, args=(i,)) for i in range(len(checkpointers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results


def sharded(folder, count, wait_s=30.0):
    options = Options(wait_s=wait_s)
    return [Checkpointer(folder, writer=(i, count), options=options) for i in range(count)]


def test_what_every_writer_holds_is_stored_once(tmp_path):
    state = {"w": np.arange(1000.0), "n": 3}
    assert save_together(sharded(tmp_path, 3), 5, [state] * 3) == [True] * 3
    assert len(list((tmp_path / "5").glob("*.bin"))) == 1
    assert not list((tmp_path / "5").glob("part-*"))
    assert Checkpointer(tmp_path).restore().state["w"].tolist() == list(range(1000))


def test_a_writer_that_does_not_come_fails_the_save_in_bounded_time(tmp_path):
    first, second = sharded(tmp_path, 2, wait_s=0.1)
    with pytest.raises(CheckpointFailed, match="writer 1 did not answer within 0 s") as caught:
        first.save(1, np.zeros(3))
    assert "every writer calls save" in caught.value.remedy
    assert names(tmp_path) == []
    with pytest.raises(CheckpointFailed, match="writer 0 did not answer"):
        second.save(1, np.zeros(3))
    assert first.steps() == []


def test_a_part_of_an_earlier_try_does_not_count(tmp_path):
    first, second = sharded(tmp_path, 2, wait_s=0.1)
    with pytest.raises(CheckpointFailed):
        second.save(1, np.zeros(3))
    assert list((tmp_path / "1").glob("part-*"))
    first._saves = 1
    with pytest.raises(CheckpointFailed, match="writer 1 did not answer"):
        first.save(1, np.zeros(3))


def test_writers_with_different_states_do_not_commit(tmp_path):
    states = [{"w": np.zeros(3)}, {"w": np.zeros(4)}]
    first, second = save_together(sharded(tmp_path, 2, wait_s=0.5), 1, states)
    assert "did not save the same state" in first.message
    assert isinstance(second, CheckpointFailed)
    assert Checkpointer(tmp_path).steps() == []


TWO_PROCESSES = """
import os, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
rank, address, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
jax.distributed.initialize(address, 2, rank)
from windlass.runtime import Checkpointer, CheckpointRefused
mesh = jax.make_mesh((2,), ("d",))
spread, copied = NamedSharding(mesh, PartitionSpec("d")), NamedSharding(mesh, PartitionSpec())
whole = np.arange(24, dtype=np.float32).reshape(6, 4)

def put(sharding):
    return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])

key = jax.jit(lambda: jax.random.key(7), out_shardings=copied)()
state = {"spread": put(spread), "copied": put(copied), "local": np.arange(5), "key": key}
checkpoints = Checkpointer(folder, writer=(rank, 2))
assert checkpoints.save(3, state)
step, back = checkpoints.restore(like=state)
assert step == 3 and back["spread"].sharding == spread and back["copied"].sharding == copied
assert back["key"].sharding == copied
draw = jax.jit(lambda key: jax.random.normal(key, (3,)), out_shardings=copied)
assert (np.asarray(draw(back["key"])) == np.asarray(draw(key))).all()
for shard in back["spread"].addressable_shards:
    assert (np.asarray(shard.data) == whole[shard.index]).all()
if rank == 0:
    try:
        Checkpointer(folder).save(4, state)
    except CheckpointRefused as refused:
        print(refused.message)
"""


def test_an_array_that_is_spread_over_processes_is_saved_by_both(tmp_path):
    pytest.importorskip("jax", reason="JAX is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    told = {"JAX_PLATFORMS": "cpu"}
    pair = [program(TWO_PROCESSES, rank, address, tmp_path, **told) for rank in (0, 1)]
    outputs = [finished(process) for process in pair]
    assert "state['spread'] is spread over processes" in outputs[0]
    assert names(tmp_path) == ["3"]
    writers = {path.name.split("-")[1] for path in (tmp_path / "3").glob("*.bin")}
    assert writers == {"w0", "w1"}
    state = Checkpointer(tmp_path).restore().state
    assert state["spread"].tolist() == state["copied"].tolist()
    assert state["spread"].tolist() == np.arange(24.0).reshape(6, 4).tolist()


@pytest.mark.parametrize("writer", [(2, 2), (-1, 1), (0, 0)])
def test_a_writer_outside_of_its_count_is_refused(tmp_path, writer):
    with pytest.raises(CheckpointRefused, match="writer="):
        Checkpointer(tmp_path, writer=writer)
