"""How spot did in a zone."""

from __future__ import annotations

import pytest

from windlass.controller.zones import HOUR_S, ZoneRecord
from windlass.planner.buying.hazards import UNSEEN_H


def test_a_state_that_lasts_gets_older():
    record = ZoneRecord.begun(0.0, is_up=True).record(2 * HOUR_S)
    assert (record.age_h, record.up_h, record.down_h) == (UNSEEN_H + 2.0, 2.0, 0.0)


def test_a_change_ends_one_state_and_begins_another():
    zone = ZoneRecord.begun(0.0, is_up=True).seen(HOUR_S, is_up=False).seen(3 * HOUR_S, is_up=True)
    assert (zone.ups_ended, zone.downs_ended) == (1, 1)
    assert (zone.up_h, zone.down_h, zone.age_h) == (1.0, pytest.approx(2.0), 0.0)


def test_a_clock_that_was_set_back_adds_nothing():
    zone = ZoneRecord.begun(HOUR_S, is_up=True).seen(0.0, is_up=True)
    assert zone.up_h == 0.0
