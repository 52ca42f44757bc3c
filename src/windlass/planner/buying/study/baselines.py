"""Policies to compare with: on-demand only, greedy, time-sliced, uniform progress.

Must not be used to run anything: they stand here because the published figures are theirs.
"""

from __future__ import annotations

from math import inf

from windlass.planner.buying.model import Decision, Observation, Place, Terms, Zone
from windlass.planner.buying.net import SHORT_H

SLICES = 6
"""Into how many equal parts time-sliced divides a run. How many the authors took is not said."""

LOOSE = 0.7
"""Below this share of work in the time left, uniform progress is greedy."""


def on_demand_only(seen: Observation, terms: Terms) -> Decision:
    """The cheapest on-demand zone, from the beginning to the end."""
    return _on_demand(seen, terms, hold_h=seen.time_h)


def greedy(seen: Observation, terms: Terms) -> Decision:
    """Spot when there is any, else wait; on-demand when waiting would miss the deadline."""
    if seen.holding.place is Place.ON_DEMAND:
        return _on_demand(seen, terms, hold_h=seen.time_h)
    if seen.holding.place is Place.SPOT:
        return _answer(Place.SPOT, seen.holding.zone, seen.time_h)
    spare_h = _spare_h(seen, terms)
    if spare_h < terms.look_h - SHORT_H:
        return _on_demand(seen, terms, hold_h=seen.time_h)
    zone = _first_up(seen)
    if zone is None:
        return _answer(Place.IDLE, "", spare_h)
    return _answer(Place.SPOT, zone.name, seen.time_h)


def time_sliced(seen: Observation, terms: Terms) -> Decision:
    """Greedy in each slice of the time, for its share of the work; what is ahead is carried over.

    On-demand is left when a new slice begins, as soon as that slice has time to spare.
    """
    spare_h = min(_spare_h(seen, terms), _slice_spare_h(seen, terms))
    rest_h = max(_slice_ends_in_h(seen, terms), terms.look_h)
    zone = _first_up(seen)
    if seen.holding.place is Place.SPOT:
        return _answer(Place.SPOT, seen.holding.zone, seen.time_h)
    if spare_h < terms.look_h - SHORT_H or seen.holding.starting_h > 0:
        hold_h = seen.holding.starting_h if seen.holding.starting_h > 0 else rest_h
        return _on_demand(seen, terms, hold_h=hold_h)
    if zone is not None:
        return _answer(Place.SPOT, zone.name, seen.time_h)
    return _answer(Place.IDLE, "", min(spare_h, rest_h))


def _slice_ends_in_h(seen: Observation, terms: Terms) -> float:
    length_h = terms.deadline_h / SLICES
    return seen.time_h % length_h or length_h


def _slice_spare_h(seen: Observation, terms: Terms) -> float:
    """The slack of the slice alone, less that of two restarts."""
    ends_in_h = _slice_ends_in_h(seen, terms)
    after = (seen.time_h - ends_in_h) / terms.deadline_h
    to_do_h = seen.work_h - after * terms.work_h
    return inf if to_do_h <= 0 else ends_in_h - to_do_h - 2 * terms.restart_h


def uniform_progress(seen: Observation, terms: Terms) -> Decision:
    """Keeps to the straight line from start to deadline, with hysteresis.

    On-demand when idle and behind, spot whenever there is any; on-demand is left only when the work
    done is what the line asks for two restarts later.
    """
    return _uniform(seen, terms, margin_h=2 * terms.restart_h)


def uniform_progress_plain(seen: Observation, terms: Terms) -> Decision:
    """The same without hysteresis."""
    return _uniform(seen, terms, margin_h=0.0)


def _uniform(seen: Observation, terms: Terms, *, margin_h: float) -> Decision:
    if seen.holding.place is Place.SPOT:
        return _answer(Place.SPOT, seen.holding.zone, seen.time_h)
    pace, ahead_h = _line(seen, terms)
    zone, spare_h = _first_up(seen), _spare_h(seen, terms)
    if seen.holding.place is Place.ON_DEMAND:
        if zone is None:
            return _on_demand(seen, terms, hold_h=seen.time_h)
        behind_h = margin_h * pace - ahead_h
        is_due = behind_h < SHORT_H and seen.holding.starting_h <= 0 and spare_h > -SHORT_H
        if is_due:
            return _answer(Place.SPOT, zone.name, seen.time_h)
        # Work on on-demand gains on the line; until it has gained enough nothing changes.
        gains_h = max(behind_h, 0.0) / (1 - pace) if pace < 1 else seen.time_h
        return _on_demand(seen, terms, hold_h=seen.holding.starting_h + gains_h)
    if spare_h < terms.look_h - SHORT_H:
        return _on_demand(seen, terms, hold_h=seen.time_h)
    if zone is not None:
        return _answer(Place.SPOT, zone.name, seen.time_h)
    if ahead_h < -SHORT_H:
        return _on_demand(seen, terms, hold_h=terms.look_h)
    return _answer(Place.IDLE, "", min(spare_h, ahead_h / pace))


def _line(seen: Observation, terms: Terms) -> tuple[float, float]:
    """The pace to keep, and how many hours of work the run is ahead of it.

    Under a loose deadline nothing is asked for until work is LOOSE of the time left.
    """
    work_h, time_h = terms.work_h, terms.deadline_h
    pace = work_h / time_h
    if pace < LOOSE:
        pace = LOOSE
    return pace, pace * seen.time_h - seen.work_h


def _spare_h(seen: Observation, terms: Terms) -> float:
    """How long to wait at most: on-demand must follow a start on spot that came to nothing."""
    return seen.slack_h() - 2 * terms.restart_h


def _first_up(seen: Observation) -> Zone | None:
    return next((zone for zone in seen.zones if zone.is_up), None)


def _answer(place: Place, zone: str, hold_h: float) -> Decision:
    return Decision(place=place, zone=zone, hold_h=hold_h, promise=1.0, reason="")


def _on_demand(seen: Observation, terms: Terms, *, hold_h: float) -> Decision:
    zone = seen.holding.zone
    if seen.holding.place is not Place.ON_DEMAND:
        zone = min(seen.zones, key=lambda zone: zone.on_demand_price).name
    return _answer(Place.ON_DEMAND, zone, max(hold_h, terms.look_h))
