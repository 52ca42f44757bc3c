"""How long to wait: the same history gives the same wait."""

from __future__ import annotations

import pytest

from windlass.controller.backoff import (
    CANCEL_MAX_S,
    RESTART_MAX_S,
    SUBMIT_MAX_S,
    cancel_delay_s,
    restart_delay_s,
    submit_delay_s,
)

WAITS = {
    "restart": (restart_delay_s, range(6), [0.0, 0.0, 1.0, 2.0, 4.0, 8.0]),
    "submit": (submit_delay_s, range(1, 5), [0.5, 1.0, 2.0, 4.0]),
    "cancel": (cancel_delay_s, range(1, 5), [1.0, 2.0, 4.0, 8.0]),
}


@pytest.mark.parametrize(("delay_s", "counts", "waits"), WAITS.values(), ids=WAITS)
def test_waits_double(delay_s, counts, waits):
    assert [delay_s(count) for count in counts] == waits


LIMITS = [
    (restart_delay_s, RESTART_MAX_S),
    (submit_delay_s, SUBMIT_MAX_S),
    (cancel_delay_s, CANCEL_MAX_S),
]


@pytest.mark.parametrize(("delay_s", "limit_s"), LIMITS)
def test_waits_have_a_limit_however_often_it_was_tried(delay_s, limit_s):
    waits = [delay_s(count) for count in [*range(40), 10**6]]
    assert waits == sorted(waits)
    assert waits[-1] == limit_s
    assert min(waits) >= 0.0
