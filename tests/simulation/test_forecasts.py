"""What plans say of cost and finish time, against modelled runs in the world they were told of."""

from __future__ import annotations

import pytest

import counts
from forecasts import Case, covered

FEW = Case("few preemptions", hazard_per_h=9.0, nodes=1, work_s=600.0)
MANY = Case("many preemptions", hazard_per_h=3.0, nodes=2, work_s=1400.0)
"""Plans count 1.4 % too much of what machines cost here, and the dollars hardly spread: nine of ten
within P90 become nineteen of twenty."""
IS_SOAK = counts.FORECASTS >= 150
"""From so many runs on the shares are what is promised; fewer say only that nothing is far off."""
HALF, MOST = (0.4, 0.6), (0.85, 0.95)
DEAR = (0.85, 0.98)
FAR_OFF = (0.1, 0.9), (0.6, 1.0), (0.6, 1.0)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("case", "half", "most", "most_usd"),
    [
        (FEW, *((HALF, MOST, MOST) if IS_SOAK else FAR_OFF)),
        pytest.param(
            *(MANY, HALF, MOST, DEAR),
            marks=pytest.mark.skipif(not IS_SOAK, reason="takes minutes: for `make soak`"),
        ),
    ],
    ids=["few", "many"],
)
def test_half_of_all_runs_keep_within_p50_and_nine_of_ten_within_p90(
    case, half, most, most_usd, record_property
):
    found = covered(case, counts.FORECASTS)
    for name, share in found._asdict().items():
        record_property(f"{case.name}: {name}", round(share, 3))
    assert half[0] <= found.p50_s <= half[1]
    assert half[0] <= found.p50_usd <= half[1]
    assert most[0] <= found.p90_s <= most[1]
    assert most_usd[0] <= found.p90_usd <= most_usd[1]
