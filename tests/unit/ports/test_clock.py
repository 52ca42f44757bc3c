"""A time of day that passes faster, the same in every process that reads of it."""

from __future__ import annotations

import time
from pathlib import Path

from windlass.ports.clock import PacedClock, SystemClock, clock_from


def test_its_time_of_day_passes_faster_and_its_steady_count_does_not():
    clock = PacedClock(start=1000.0, since=time.monotonic() - 2.0, speed=10.0)
    assert 1020.0 <= clock.now() < 1030.0
    assert abs(clock.monotonic() - time.monotonic()) < 1.0


def test_moments_of_the_machine_have_theirs_in_it():
    clock = PacedClock(start=1000.0, since=time.monotonic(), speed=10.0)
    assert abs(clock.at(time.time() + 3.0) - (clock.now() + 30.0)) < 1.0


def test_other_processes_read_the_same(tmp_path: Path):
    kept = PacedClock(start=1000.0, since=time.monotonic(), speed=10.0)
    kept.write(tmp_path / "clock.json")
    read = clock_from(tmp_path / "clock.json")
    assert abs(read.now() - kept.now()) < 1.0


def test_without_a_file_it_is_the_machines_own(tmp_path: Path):
    assert isinstance(clock_from(tmp_path / "clock.json"), SystemClock)
