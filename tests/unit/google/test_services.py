"""Which APIs are on."""

from __future__ import annotations

from doors import PROJECT, House
from houses import session_of
from windlass.google.services import Services


def test_apis_that_are_off_are_not_among_those_that_are_on():
    house = House()
    house.twin.apis.set("tpu.googleapis.com", enabled=False)
    enabled = Services(session_of(house), PROJECT).enabled()
    assert "compute.googleapis.com" in enabled
    assert "tpu.googleapis.com" not in enabled
