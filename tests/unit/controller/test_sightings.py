"""Since when something was seen."""

from __future__ import annotations

from windlass.controller.sightings import Sightings
from windlass.engines.base import Observation, Seen

GONE = Observation(seen=Seen.GONE)
UP = Observation(seen=Seen.RUNNING)
UNKNOWN = Observation(seen=Seen.UNKNOWN)


def missing(*nodes):
    return Observation(seen=Seen.RUNNING, missing=nodes)


def noted(*seen):
    sightings = Sightings()
    for at, observation in enumerate(seen):
        sightings.note("c", observation, at=float(at))
    return sightings


def test_gone_counts_from_the_first_time_without_a_break():
    assert noted(GONE, GONE).gone_for_s("c", at=5.0) == 5.0
    assert noted(GONE, UP, GONE).gone_for_s("c", at=5.0) == 3.0
    assert noted(GONE, UP).gone_for_s("c", at=5.0) is None
    assert noted().gone_for_s("c", at=5.0) is None


def test_not_knowing_changes_nothing():
    assert noted(GONE, UNKNOWN, UNKNOWN).gone_for_s("c", at=5.0) == 5.0
    assert noted(UP, UNKNOWN).up_for_s("c", at=5.0) == 5.0
    assert noted(missing(1), UNKNOWN).missing_for_s("c", at=5.0) == 5.0


def test_up_counts_without_a_break():
    assert noted(UP, GONE, UP).up_for_s("c", at=5.0) == 3.0
    assert noted(GONE).up_for_s("c", at=5.0) == 0.0


def test_missing_counts_for_the_same_nodes():
    assert noted(missing(1), missing(1)).missing_for_s("c", at=5.0) == 5.0
    assert noted(missing(1), missing(0, 1)).missing_for_s("c", at=5.0) == 4.0
    assert noted(missing(1), UP).missing_for_s("c", at=5.0) == 0.0


def test_a_heartbeat_is_as_old_as_its_first_sight_whatever_it_says():
    sightings = Sightings()
    ages = [
        sightings.beat_age_s("c", 0, beat, at=at) for beat, at in [(7, 1.0), (7, 4.0), (8, 6.0)]
    ]
    assert ages == [0.0, 3.0, 0.0]
    assert sightings.beat_age_s("c", 1, 7, at=9.0) == 0.0


def test_only_claims_that_are_left_are_remembered():
    sightings = noted(GONE)
    sightings.note("other", GONE, at=0.0)
    sightings.beat_age_s("c", 0, 1, at=0.0)
    sightings.forget_all_but({"other"})
    assert sightings.gone_for_s("c", at=5.0) is None
    assert sightings.gone_for_s("other", at=5.0) == 5.0
    assert sightings.beat_age_s("c", 0, 1, at=5.0) == 0.0
