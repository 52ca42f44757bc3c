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
    """Looks that began at 0, 1, 2 …"""
    sightings = Sightings()
    for at, observation in enumerate(seen):
        sightings.note("c", observation, asked_at=float(at), told_at=float(at))
    return sightings


def test_gone_counts_from_the_first_look_to_the_newest_without_a_break():
    assert noted(GONE, GONE, GONE).gone_for_s("c") == 2.0
    assert noted(GONE, UP, GONE).gone_for_s("c") == 0.0
    assert noted(GONE, UP).gone_for_s("c") is None
    assert noted().gone_for_s("c") is None


def test_time_that_passes_without_a_look_does_not_count():
    """A controller that hung may hold an answer that is much older than it looks."""
    assert noted(GONE).gone_for_s("c") == 0.0


def test_what_was_seen_late_was_not_seen_before():
    """Nor was it so, for all anybody knows: a bill would be too low, and a gang given up early."""
    sightings = Sightings()
    sightings.note("c", GONE, asked_at=0.0, told_at=60.0)
    assert sightings.gone_for_s("c") == 0.0
    sightings.note("c", GONE, asked_at=61.0, told_at=99.0)
    assert sightings.gone_for_s("c") == 1.0


def test_not_knowing_changes_nothing():
    assert noted(GONE, GONE, UNKNOWN, UNKNOWN).gone_for_s("c") == 1.0
    assert noted(GONE, UNKNOWN, GONE).gone_for_s("c") == 2.0
    assert noted(UP, UNKNOWN, UP).up_for_s("c") == 2.0
    assert noted(missing(1), UNKNOWN, missing(1)).missing_for_s("c") == 2.0


def test_up_counts_without_a_break():
    assert noted(UP, GONE, UP, UP).up_for_s("c") == 1.0
    assert noted(GONE).up_for_s("c") == 0.0


def test_missing_counts_for_the_same_nodes():
    assert noted(missing(1), missing(1)).missing_for_s("c") == 1.0
    assert noted(missing(1), missing(0, 1)).missing_for_s("c") == 0.0
    assert noted(missing(1), UP, UP).missing_for_s("c") == 0.0


def test_a_heartbeat_is_as_old_as_its_first_sight_whatever_it_says():
    sightings = Sightings()
    looks = [(7, 1.0), (7, 4.0), (8, 6.0)]
    ages = [sightings.beat_age_s("c", 0, beat, asked_at=at, read_at=at) for beat, at in looks]
    assert ages == [0.0, 3.0, 0.0]
    assert sightings.beat_age_s("c", 1, 7, asked_at=9.0, read_at=9.0) == 0.0


def test_a_look_that_took_long_makes_no_heartbeat_older():
    sightings = Sightings()
    sightings.beat_age_s("c", 0, 7, asked_at=0.0, read_at=60.0)
    assert sightings.beat_age_s("c", 0, 7, asked_at=61.0, read_at=130.0) == 1.0


def test_only_claims_that_are_left_are_remembered():
    sightings = noted(GONE, GONE)
    sightings.note("other", GONE, asked_at=0.0, told_at=0.0)
    sightings.beat_age_s("c", 0, 1, asked_at=0.0, read_at=0.0)
    sightings.forget_all_but({"other"})
    assert sightings.gone_for_s("c") is None
    assert sightings.gone_for_s("other") == 0.0
    assert sightings.beat_age_s("c", 0, 1, asked_at=5.0, read_at=5.0) == 0.0
