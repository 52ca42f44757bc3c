"""What an offer costs under a commitment of one or three years.

Must not say that a commitment pays: it is paid for every hour of the term, used or not.
"""

from __future__ import annotations

from windlass.catalog.model import Buy, Offer

DISCOUNTS = {1: 0.37, 3: 0.55}
"""Years to the share that Google takes off the on-demand price."""


def committed_usd_per_h(offer: Offer, years: int) -> float | None:
    """The price of the same for whoever commits; None where it cannot be committed to.

    Only what is ordered on demand is discounted: spot, flex-start and calendar have their prices.
    """
    if offer.buy is not Buy.ON_DEMAND or years not in DISCOUNTS:
        return None
    return offer.usd_per_h * (1.0 - DISCOUNTS[years])
