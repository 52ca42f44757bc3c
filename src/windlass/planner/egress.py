"""What it costs to read a bucket from a region.

Must not guess a place: a location that it does not know has no price.
"""

from __future__ import annotations

from windlass.catalog.prices import OtherPrices

_MULTI_REGIONS = {"us": "north-america", "eu": "europe", "asia": "asia"}
_DUAL_REGIONS = {
    "nam4": ("us-central1", "us-east1"),
    "eur4": ("europe-north1", "europe-west4"),
    "asia1": ("asia-northeast1", "asia-northeast2"),
}
_CONTINENTS = {
    "us": "north-america",
    "northamerica": "north-america",
    "southamerica": "south-america",
    "europe": "europe",
    "asia": "asia",
    "australia": "oceania",
    "me": "middle-east",
    "africa": "africa",
}


def read_usd_per_gib(location: str, region: str, prices: OtherPrices) -> float | None:
    """Reading from a bucket at that location; None when the location or its price is not known.

    Free inside a region and from a dual-region's own two; a multi-region is not free.
    """
    if location == region or region in _DUAL_REGIONS.get(location, ()):
        return 0.0
    here, there = continent(region), continent(location)
    if there is None or here is None:
        return None
    if location in _MULTI_REGIONS and there == here:
        found = prices.find("gcs_read_same_continent", f"{location} (multi-region)")
        if found is not None:
            return found.usd
    found = prices.find("network_inter_region", f"{here}|{there}", f"{there}|{here}", "other")
    return found.usd if found else None


def continent(location: str) -> str | None:
    """Of a region, a dual-region or a multi-region; None when there is no such place."""
    if location in _MULTI_REGIONS:
        return _MULTI_REGIONS[location]
    first = _DUAL_REGIONS.get(location, (location,))[0]
    return _CONTINENTS.get(first.partition("-")[0]) if "-" in first else None
