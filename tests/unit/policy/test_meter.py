"""What machines cost."""

from __future__ import annotations

import pytest

from builders import make_claim, make_run
from windlass.policy.meter import Meter, read_meter, usd_of


@pytest.mark.parametrize(
    ("seconds", "usd"),
    [
        pytest.param(3600.0, 36.0, id="an hour"),
        pytest.param(90.0, 0.9, id="by the second"),
        pytest.param(1.0, 0.6, id="a minute at least"),
        pytest.param(-500.0, 0.6, id="a clock that was set back"),
    ],
)
def test_machines_cost_their_time(seconds, usd):
    assert usd_of(36.0, from_at=1000.0, until_at=1000.0 + seconds) == pytest.approx(usd)


def test_what_is_held_is_added_to_what_is_spent():
    held = {"usd_per_h": 36.0, "held_from": 0.0}
    claims = [
        make_claim(index=0, **held),
        make_claim(index=1, is_extra=True, **held),
        make_claim(index=2, held_until=100.0, **held),
        make_claim(index=3, usd_per_h=36.0),
    ]
    meter = read_meter(make_run(spent_usd=5.0, race_usd=1.0), claims, now=100.0)
    assert meter == Meter(spent_usd=7.0, usd_per_h=72.0, race_usd=2.0)
    assert meter.after(3600.0) == 79.0
