from __future__ import annotations

import pytest

from buckets import HandClock
from windlass.twin.clock import TwinClock


@pytest.mark.parametrize("speed", [0.5, 1.0, 60.0, 3600.0])
def test_time_passes_as_fast_as_it_was_asked_to(speed: float) -> None:
    machine = HandClock(50.0)
    clock = TwinClock(machine, start=1000.0, speed=speed)
    assert (clock.now(), clock.monotonic()) == (1000.0, 0.0)
    machine.at += 2.0
    assert clock.now() == 1000.0 + 2.0 * speed
    assert clock.real_seconds_until(1000.0 + 3.0 * speed) == pytest.approx(1.0)
    assert clock.real_seconds_until(0.0) == 0.0


def test_clock_goes_on_where_the_last_one_stood_however_long_that_is_ago() -> None:
    clock = TwinClock(HandClock(10**9), start=5.0)
    assert clock.now() == 5.0
