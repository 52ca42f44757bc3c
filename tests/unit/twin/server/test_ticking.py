"""Time passes by itself, calls wait for it, and a twin goes on at the time at which it ended."""

from __future__ import annotations

import io
import threading
import time
from random import Random

import pytest

from windlass.ports.clock import SystemClock
from windlass.twin.clock import TwinClock
from windlass.twin.cloud import Cloud
from windlass.twin.journal import SqliteJournal
from windlass.twin.refusals import Refusal
from windlass.twin.server.ticking import RealWaiting, Ticker


class Ticking:
    """A cloud whose time passes."""

    def __init__(self, path, *, speed: float) -> None:
        self.log = io.StringIO()
        self.journal = SqliteJournal(path)
        start = float(self.journal.setting("time") or 1000.0)
        self.clock = TwinClock(SystemClock(), start=start, speed=speed)
        self.waiting = RealWaiting(self.clock)
        self.cloud = Cloud(
            clock=self.clock, chance=Random(0), journal=self.journal, waiting=self.waiting
        )
        self.ticker = Ticker(self.cloud, self.journal, self.waiting, log=self.log)
        self.ticker.start()


@pytest.fixture
def ticking(tmp_path):
    made = Ticking(tmp_path / "state.db", speed=100.0)
    yield made
    made.ticker.stop()


def test_what_is_due_is_done_though_nobody_asks(ticking):
    done = threading.Event()
    ticking.cloud.on("alarm", lambda key: done.set())
    with ticking.cloud.lock:
        ticking.cloud.later(10.0, "alarm", "x")
        ticking.cloud.commit()
    assert done.wait(timeout=10)


def test_a_bug_in_what_is_due_is_told_and_time_goes_on(ticking):
    done = threading.Event()
    ticking.cloud.on("alarm", lambda key: 1 / 0)
    ticking.cloud.on("other", lambda key: done.set())
    with ticking.cloud.lock:
        ticking.cloud.later(1.0, "alarm", "x")
        ticking.cloud.later(20.0, "other", "y")
    assert done.wait(timeout=10)
    assert "ZeroDivisionError" in ticking.log.getvalue()


def test_a_call_waits_a_little_at_a_time_and_not_for_what_is_past(ticking):
    began = time.monotonic()
    ticking.waiting.until(ticking.clock.now() - 1)
    assert time.monotonic() - began < 0.04
    ticking.waiting.until(ticking.clock.now() + 1e9)
    assert time.monotonic() - began < 2


def test_whoever_waits_is_let_go_at_the_end(ticking):
    ticking.waiting.end()
    with pytest.raises(Refusal, match="going down") as refused:
        ticking.waiting.until(ticking.clock.now() + 1e9)
    assert refused.value.code == 503
    ticking.waiting.until(ticking.clock.now() - 1)


def test_a_twin_goes_on_at_the_time_at_which_it_ended(tmp_path):
    first = Ticking(tmp_path / "state.db", speed=1000.0)
    time.sleep(0.05)
    first.ticker.stop()
    ended = first.clock.now()
    second = Ticking(tmp_path / "state.db", speed=1.0)
    try:
        assert 1000.0 < second.clock.now() <= ended + 5
    finally:
        second.ticker.stop()
