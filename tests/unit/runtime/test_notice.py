"""A notice is seen by whoever asks, and SIGTERM does not end the program before it could save."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from windlass.runtime import EXIT_PREEMPTED, leave, notice
from windlass.runtime.notice import POLL_S, NoticeFile

LOOP = """
import sys, time
from windlass.runtime import leave, notice
notice()
print("ready", flush=True)
while True:
    seen = notice()
    if seen is not None:
        print(seen.reason, round(seen.seconds_left), flush=True)
        leave()
    time.sleep(0.01)
"""


def write(path, seconds, reason="spot"):
    path.write_text(
        json.dumps({"deadline": time.time() + seconds, "seconds": seconds, "reason": reason})
    )


def started(notice_path, program=LOOP):
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={"WINDLASS_NOTICE": str(notice_path), "PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_without_a_file_there_is_none(tmp_path):
    assert NoticeFile(str(tmp_path / "notice.json")).look() is None
    assert notice() is None


def test_seconds_left_count_down_to_zero(tmp_path):
    path = tmp_path / "notice.json"
    write(path, 0.2, "spot took it")
    seen = NoticeFile(str(path)).look()
    assert seen.reason == "spot took it"
    first = seen.seconds_left
    assert 0 < first <= 0.2
    time.sleep(0.25)
    assert seen.seconds_left == 0.0


def test_one_that_comes_later_is_seen(tmp_path):
    path = tmp_path / "notice.json"
    file = NoticeFile(str(path))
    assert file.look() is None
    write(path, 30)
    time.sleep(POLL_S * 1.2)
    assert file.look().seconds_left > 25


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"deadline": "soon"}'])
def test_a_file_that_is_not_whole_is_looked_at_again(tmp_path, content):
    path = tmp_path / "notice.json"
    path.write_text(content)
    file = NoticeFile(str(path))
    assert file.look() is None
    write(path, 30)
    time.sleep(POLL_S * 1.2)
    assert file.look() is not None


def test_asking_every_step_costs_microseconds(tmp_path, record_property):
    file = NoticeFile(str(tmp_path / "notice.json"))
    count = 20_000
    began = time.perf_counter()
    for _ in range(count):
        file.look()
    each_us = (time.perf_counter() - began) / count * 1e6
    record_property("microseconds a call", f"{each_us:.2f}")
    assert each_us < 50  # An order of magnitude of slack for a busy machine.


def test_leaving_says_preempted():
    with pytest.raises(SystemExit) as left:
        leave()
    assert left.value.code == EXIT_PREEMPTED == 75


def test_the_loop_outlives_sigterm_and_leaves_by_itself(tmp_path):
    path = tmp_path / "nötice.json"
    process = started(path)
    write(path, 30, "taken away")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert out == "taken away 30\n"
    assert process.returncode == EXIT_PREEMPTED


def test_a_signal_that_overtakes_the_notice_ends_nothing(tmp_path):
    path = tmp_path / "notice.json"
    process = started(path)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    write(path, 30)
    process.communicate(timeout=30)
    assert process.returncode == EXIT_PREEMPTED


def test_sigterm_without_a_notice_ends_the_program_as_ever(tmp_path):
    process = started(tmp_path / "notice.json")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM


def test_a_handler_of_the_program_is_left_alone(tmp_path):
    own = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
    process = started(tmp_path / "n.json", LOOP.replace("notice()\nprint", own + "notice()\nprint"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 9
