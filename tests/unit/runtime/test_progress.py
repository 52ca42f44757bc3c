"""Progress is one JSON line per call, and never in the way of training."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from windlass.runtime import progress
from windlass.runtime.progress import KEY_CHARS_MAX, METRICS_MAX, ProgressFile, clean

PROGRAM = """
from windlass.runtime import progress
progress(0)
progress(7, loss=2.5, tokens_per_s=1e6, note="grüße")
"""


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(program, **environment):
    env = {"PYTHONPATH": ":".join(sys.path), **environment}
    subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=60)


def test_each_call_is_a_line_in_the_ranks_own_file(tmp_path):
    folder = tmp_path / "node folder"
    run(PROGRAM, WINDLASS_FOLDER=str(folder), WINDLASS_RANK="3", WINDLASS_ATTEMPT="2")
    first, second = lines(folder / "rank-3" / "progress.jsonl")
    assert (first["step"], first["attempt"]) == (0, 2)
    assert abs(first["time"] - time.time()) < 60
    assert {**second, "time": 0} == {
        "step": 7,
        "time": 0,
        "attempt": 2,
        "loss": 2.5,
        "tokens_per_s": 1e6,
        "note": "grüße",
    }


def test_without_windlass_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    progress(1, loss=1.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.5, 1.5),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, True),
        (10**30, 10**30),
        (None, None),
        ("x" * 300, "x" * 200),
        (np.float32(0.5), 0.5),
        (np.float32("inf"), "inf"),
        (np.int8(-3), -3),
        (np.array(4.0), 4.0),
        (np.array([2.0]), 2.0),
    ],
    ids=repr,
)
def test_a_metric_becomes_a_plain_value(value, written):
    assert clean({"m": value}) == {"m": written}
    json.loads(json.dumps(clean({"m": value}), allow_nan=False))


@pytest.mark.parametrize(
    "value", [np.zeros(3), object(), [1.0], {"a": 1}, 1j], ids=lambda value: type(value).__name__
)
def test_what_is_no_scalar_is_left_out(value):
    assert clean({"loss": 1.0, "odd": value}) == {"loss": 1.0}


def test_a_jax_scalar_becomes_a_plain_value():
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    assert clean({"loss": jnp.float32(0.25), "low": jnp.bfloat16(2.0)}) == {
        "loss": 0.25,
        "low": 2.0,
    }


def test_keys_are_bounded_and_ours_cannot_be_overwritten():
    assert clean({"time": 1, "event": "saved", "attempt": 9, "loss": 1}) == {"loss": 1}
    assert clean({"k" * (KEY_CHARS_MAX + 1): 1}) == {}
    assert len(clean({f"m{index}": index for index in range(100)})) == METRICS_MAX


def test_a_folder_that_cannot_be_made_costs_lines_only(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    file = ProgressFile(str(blocked / "rank-0" / "progress.jsonl"), attempt=1)
    file.add({"step": 1})
    file.add({"step": 2})
    assert blocked.read_text() == "in the way"


def test_a_full_disk_costs_lines_only_and_never_joins_two(tmp_path):
    path = tmp_path / "progress.jsonl"
    file = ProgressFile(str(path), attempt=1)
    file.add({"step": 1})
    size = path.stat().st_size
    program = f"""
import resource, signal
from windlass.runtime.progress import ProgressFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = ProgressFile({str(path)!r}, attempt=1)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 10}, resource.RLIM_INFINITY))
file.add({{"step": 2}})
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
file.add({{"step": 3}})
"""
    run(program)
    texts = path.read_text().splitlines()
    assert [json.loads(texts[0])["step"], json.loads(texts[-1])["step"]] == [1, 3]
    assert len(texts) == 3 and len(texts[1]) == 10


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_disk_without_room_is_survived():
    file = ProgressFile("/dev/full", attempt=1)
    for step in range(3):
        file.add({"step": step})


def test_threads_do_not_tear_each_others_lines(tmp_path):
    path = tmp_path / "progress.jsonl"
    file = ProgressFile(str(path), attempt=1)

    def write(worker):
        for step in range(200):
            file.add({"step": step, "worker": worker, "text": "x" * 100})

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(path)) == 800


def test_a_call_costs_microseconds(tmp_path, record_property):
    file = ProgressFile(str(tmp_path / "progress.jsonl"), attempt=1)
    count = 5_000
    began = resource.getrusage(resource.RUSAGE_SELF)
    for step in range(count):
        file.add({"step": step, **clean({"loss": 2.5, "tokens_per_s": 1e6})})
    ended = resource.getrusage(resource.RUSAGE_SELF)
    spent = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    each_us = spent / count * 1e6
    record_property("microseconds a call", f"{each_us:.1f}")
    assert each_us < 200  # An order of magnitude of slack for a busy machine.
