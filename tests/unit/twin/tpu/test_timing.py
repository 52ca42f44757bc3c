from __future__ import annotations

from typing import Any

import pytest

from windlass.twin.tpu.timing import Window, run_seconds, window

NOW = 1_800_000_000.0
WINDOWS: dict[str, tuple[dict[str, Any], Window]] = {
    "nothing said": ({}, Window(None, None)),
    "durations": (
        {"validAfterDuration": "60s", "validUntilDuration": "3600.5s"},
        Window(NOW + 60, NOW + 3600.5),
    ),
    "moments": (
        {"validAfterTime": "2027-01-15T08:01:00Z", "validUntilTime": "2027-01-15T09:00:00.000Z"},
        Window(NOW + 60, NOW + 3600),
    ),
    "interval": (
        {
            "validInterval": {
                "startTime": "2027-01-15T08:01:00Z",
                "endTime": "2027-01-15T10:00:00+01:00",
            }
        },
        Window(NOW + 60, NOW + 3600),
    ),
}
RUNS: dict[str, tuple[dict[str, Any], float | None]] = {
    "nothing said": ({}, None),
    "duration": ({"maxRunDuration": "14400s"}, 14400.0),
    "moment": ({"terminationTime": "2027-01-15T09:00:00Z"}, 3600.0),
    "moment that has passed": ({"terminationTime": "2027-01-15T07:00:00Z"}, 0.0),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_policy_comes_to_a_window(case: str) -> None:
    policy, expected = WINDOWS[case]
    assert window(policy, NOW) == expected


@pytest.mark.parametrize("case", RUNS)
def test_run_duration_comes_to_seconds(case: str) -> None:
    duration, expected = RUNS[case]
    assert run_seconds(duration, NOW) == expected
