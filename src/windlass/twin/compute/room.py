"""Whether an ask can be granted: quota and stock, with the errors that Google puts into operations.

Must not take anything: the fleet counts what runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.market import Model, Wanted

if TYPE_CHECKING:
    from windlass.twin.market import Market
    from windlass.twin.quotas import Exceeded, Quotas


class Refused(NamedTuple):
    """Why an operation fails."""

    code: int
    message: str
    error: dict[str, Any]


class Room:
    """Looks before anything starts."""

    def __init__(self, *, market: Market, quotas: Quotas) -> None:
        self._market = market
        self._quotas = quotas

    def refused(self, wanted: Wanted, count: int = 1) -> Refused | None:
        """Why so many more cannot be had; None when they can."""
        exceeded = self._quotas.exceeded(wanted, count)
        if exceeded is not None:
            return over_quota(exceeded)
        return None if self._market.room(wanted) >= count else out_of_stock(wanted)

    def fits(self, wanted: Wanted) -> int:
        """How many more the zone has."""
        return max(0, self._market.room(wanted))


def over_quota(exceeded: Exceeded) -> Refused:
    """Quota is refused by metric, with limit and place."""
    metric, _, family = exceeded.metric.partition(":")
    place = f"in region {exceeded.scope}" if exceeded.scope != "global" else "globally"
    limit = f"{exceeded.limit:.1f}"
    message = f"Quota '{metric}' exceeded.  Limit: {limit} {place}."
    dimensions = {"region": exceeded.scope} if exceeded.scope != "global" else {}
    if family:
        dimensions["gpu_family"] = family
    detail = {
        "quotaInfo": {
            "metricName": f"compute.googleapis.com/{metric.lower()}",
            "limitName": f"{metric.replace('_', '-')}-per-project-region",
            "dimensions": dimensions,
            "limit": exceeded.limit,
        }
    }
    return Refused(
        403, "FORBIDDEN", {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": [detail]}
    )


def out_of_stock(wanted: Wanted) -> Refused:
    """Stock is refused by zone, with what was asked for."""
    resource = f"projects/_/zones/{wanted.zone}"
    attached = f" with {wanted.chips} {wanted.chip} accelerator(s)" if wanted.chip else ""
    spot = "preemptible " if wanted.model is Model.SPOT else ""
    message = (
        f"The zone '{resource}' does not have enough resources available to fulfill the request. "
        " '(resource type:compute)'."
    )
    localized = (
        f"A {spot}{wanted.type} VM instance{attached} is currently unavailable in the "
        f"{wanted.zone} zone. Consider trying your request in another zone, requesting a "
        "different VM hardware configuration or at a later time."
    )
    details = [
        {"localizedMessage": {"locale": "en-US", "message": localized}},
        {
            "errorInfo": {
                "reason": "resource_availability",
                "domain": "compute.googleapis.com",
                "metadatas": {
                    "zone": wanted.zone,
                    "vmType": wanted.type,
                    "attachment": f"{wanted.chip}:{wanted.chips}" if wanted.chip else "",
                    "zonesAvailable": "",
                },
            }
        },
    ]
    return Refused(
        503,
        "SERVICE UNAVAILABLE",
        {
            "code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
            "message": message,
            "errorDetails": details,
        },
    )
