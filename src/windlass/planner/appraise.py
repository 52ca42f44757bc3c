"""What a refused offer would have cost, had it been taken: every term that can be known.

Must not judge anything anew: the refusal stands.
"""

from __future__ import annotations

import math

from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices
from windlass.planner.ask import Ask, Way
from windlass.planner.candidates import Candidate, Lot, Refusal, gang_with
from windlass.planner.cost import Tariffs, unit_usd_per_h
from windlass.planner.estimate import Estimate, Estimator, fixed_time


def appraise(refusal: Refusal, ask: Ask, prices: OtherPrices) -> Candidate:
    """As it was to be bought, on the number of nodes that came nearest, else on the cheapest.

    Where it is not known how long the work takes there, for one hour or all of the ttl.
    """
    offer = refusal.offer
    way = refusal.way or _way(ask, offer)
    counts = ask.nodes if refusal.nodes is None else (refusal.nodes,)
    tariff = Tariffs(ask, prices).of(offer.region, offer.machine.family)
    unit = unit_usd_per_h(ask, offer, way)
    lot = Lot(offer.label, way, tariff, unit, (offer,), (), ())
    estimates = [_estimate(ask, offer, way, nodes=nodes) for nodes in counts]
    ending = [one for one in estimates if math.isfinite(one.wall_s)]
    best = min(ending, key=lot.usd) if ending else estimates[0]
    return Candidate(offer, lot, best, lot.usd(best))


def _way(ask: Ask, offer: Offer) -> Way:
    """The first that the spec allows, else as the offer is sold."""
    name = offer.buy.value
    asked = ask.ways.get(offer.buy)
    return asked[0] if asked else Way(name=name, kind=name, buy=offer.buy, order=0)


def _estimate(ask: Ask, offer: Offer, way: Way, *, nodes: int) -> Estimate:
    gang = gang_with(offer, nodes)
    return Estimator(ask, gang, way).on(nodes) or fixed_time(ask, gang)
