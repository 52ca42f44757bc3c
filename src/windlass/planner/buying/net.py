"""The safety net: what may be done without risking the deadline, and what can be promised.

Must not weigh costs.

Slack is the time left less the work left. Work leaves it as it is; waiting and restarts use it up.
A run that is not on on-demand machines must always have the slack that a start there needs
(reserve_h), even if what it does until the next look comes to nothing.

Where on-demand can be out of stock, each time it is asked for may be the time it does not come. So
the risk of the whole run is divided: of the risk `r` the time number k (from 0) may take
`r / ((k + 1) * (k + 2))`, which sums up to r over all times, and to `r / (k + 1)` from k on.
"""

from __future__ import annotations

from windlass.planner.buying.model import Observation, Place, Supply, Terms

SHORT_H = 1e-6
"""Hours that are no difference: a thousandth of a second is far below any look."""


def reserve_h(seen: Observation, terms: Terms) -> float:
    """The slack that on-demand needs: a restart, and the wait that is allowed for."""
    part = terms.risk() / ((seen.asked + 1) * (seen.asked + 2))
    return terms.restart_h + _supply(seen, terms).wait_for(1.0 - part)


def may_wait(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time after one more look."""
    return seen.slack_h() - terms.look_h >= reserve_h(seen, terms) - SHORT_H


def may_start_spot(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time after a whole start on spot that came to nothing."""
    lost_h = terms.restart_h + terms.look_h
    return seen.slack_h() - lost_h >= reserve_h(seen, terms) - SHORT_H


def may_stay(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand is still in time if the spot held now is lost before the next look."""
    return may_wait(seen, terms)


def is_too_late(seen: Observation, terms: Terms) -> bool:
    """Whether on-demand machines, got at this moment, would miss the deadline."""
    return seen.slack_h() < terms.restart_h - SHORT_H


def spare_h(seen: Observation, terms: Terms) -> float:
    """How long nothing needs to be done before on-demand must be started."""
    return max(0.0, seen.slack_h() - reserve_h(seen, terms))


def promise(seen: Observation, terms: Terms, *, place: Place) -> float:
    """The probability of meeting the deadline, if spot brings nothing more from now on.

    Machines held on demand are taken not to fail. So 1 where on-demand is always there.
    """
    # What asking again, later than now, may still put at risk.
    later = terms.risk() / (seen.asked + 1)
    if place is Place.ON_DEMAND and seen.holding.place is Place.ON_DEMAND:
        if may_start_spot(seen, terms):
            return 1.0 - later
        return 1.0 if seen.slack_h() >= seen.holding.starting_h - SHORT_H else 0.0
    if not seen.zones:
        return 0.0
    unseen_h = 0.0 if place is Place.ON_DEMAND else terms.look_h
    in_time_h = seen.slack_h() - unseen_h - terms.restart_h + SHORT_H
    comes = _supply(seen, terms).chance_within(in_time_h)
    if not may_wait(seen, terms):
        return comes
    # Who is asking already bears the risk of this time as well as that of later ones.
    return max(0.0, comes - later) if seen.refused_h == 0 else min(comes, 1.0 - later)


def _supply(seen: Observation, terms: Terms) -> Supply:
    if seen.refused_h is None:
        return terms.supply
    return terms.supply.after_refusal(seen.refused_h)
