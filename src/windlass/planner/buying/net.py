"""The safety net: what may be done without risking the deadline, and what can be promised.

Must not weigh costs.

Slack is the time left less the work left. Work leaves it as it is; waiting and restarts use it up.
A run that is not on on-demand machines must always have the slack that a start there needs
(Terms.reserve_h), even if what it does until the next look comes to nothing.
"""

from __future__ import annotations

from windlass.planner.buying.model import Observation, Place, Terms

SHORT_H = 1e-6
"""Hours that are no difference: a thousandth of a second is far below any look."""


def may_wait(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time after one more look."""
    return seen.slack_h() - terms.look_h >= terms.reserve_h() - SHORT_H


def may_start_spot(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time after a whole start on spot that came to nothing."""
    lost_h = terms.restart_h + terms.look_h
    return seen.slack_h() - lost_h >= terms.reserve_h() - SHORT_H


def may_stay(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time if the spot held now is lost before the next look."""
    return may_wait(seen, terms)


def spare_h(seen: Observation, terms: Terms) -> float:
    """How long nothing needs to be done before on-demand must be started."""
    return max(0.0, seen.slack_h() - terms.reserve_h())


def promise(seen: Observation, terms: Terms, *, place: Place) -> float:
    """The probability of meeting the deadline, if spot brings nothing more from now on.

    Machines held on demand are taken not to fail. So 1 where on-demand is always there.
    """
    holding = seen.holding
    if place is Place.ON_DEMAND and holding.place is Place.ON_DEMAND:
        return 1.0 if seen.slack_h() >= holding.starting_h - SHORT_H else 0.0
    unseen_h = 0.0 if place is Place.ON_DEMAND else terms.look_h
    return terms.supply.chance_within(seen.slack_h() - unseen_h - terms.restart_h + SHORT_H)
