"""A plan is refused when it makes no sense."""

from __future__ import annotations

import json

import pytest

from windlass.twin.machines.plan import CannotStart, Plan

BAD = {
    "an id that walks": {"id": "../x"},
    "an id with a slash": {"id": "a/b"},
    "an empty id": {"id": ""},
    "a long id": {"id": "a" * 101},
    "a host name with a line": {"hostname": "a\nb"},
    "an address of the world": {"address": "10.0.0.1"},
    "a variable with a sign": {"env": {"A=B": "x"}},
    "a value with a zero": {"env": {"A": "x\0y"}},
    "a relative file": {"files": {"etc/x": b""}},
}


@pytest.mark.parametrize("case", BAD)
def test_a_plan_is_refused_with(case):
    with pytest.raises(CannotStart):
        Plan(**{"id": "m", "hostname": "m", "address": "127.0.0.2", **BAD[case]})


def test_a_plan_travels_as_json():
    plan = Plan(
        id="m", hostname="m", address="127.0.0.2", startup_script=b"\xff", files={"/x": b"y"}
    )
    told = json.loads(json.dumps(plan.to_json()))
    assert told["startup_script"] == "/w=="
    assert told["shutdown_script"] is None
    assert told["files"] == {"/x": "eQ=="}
