"""Whether an ask can be granted: quota and stock, with the errors that Google puts into operations.

Must not take anything for what runs, which the fleet counts; only for reservations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from windlass.twin.market import Wanted

if TYPE_CHECKING:
    from windlass.twin.compute.asks import Ask
    from windlass.twin.compute.scopes import Places, Scope
    from windlass.twin.market import Market
    from windlass.twin.quotas import Exceeded, Quotas


TROUBLESHOOTING = "https://cloud.google.com/compute/docs/resource-error"


class Refused(NamedTuple):
    """Why an operation fails."""

    code: int
    message: str
    error: dict[str, Any]


class Grant(NamedTuple):
    """What an ask may have."""

    refused: Refused | None
    reservation: str = ""
    """The key of the one that it uses."""


FREELY = Grant(None)


class Choosing(Protocol):
    """Knows which reservation an ask uses."""

    def choose(self, ask: Ask, scope: Scope, count: int) -> tuple[str, Refused | None]:
        """Its key, empty for none, or why the one that is named cannot be used."""


class Room:
    """Looks before anything starts."""

    def __init__(self, *, market: Market, quotas: Quotas, places: Places, project: str) -> None:
        self._market = market
        self._quotas = quotas
        self._places = places
        self._project = project
        self.reservations: Choosing | None = None

    def granted(self, ask: Ask, scope: Scope, count: int = 1) -> Grant:
        """Whether so many more can be had, and from which reservation."""
        if self.reservations is not None:
            key, refused = self.reservations.choose(ask, scope, count)
            if refused is not None:
                return Grant(refused)
            if key:
                return Grant(None, key)
        refused = self.refused(ask.wanted, count)
        return FREELY if refused is None else Grant(refused)

    def hold(self, wanted: Wanted, count: int, *, is_stock_too: bool = True) -> None:
        """Keep so many from others; a negative number lets go of them."""
        if is_stock_too:
            self._market.take(wanted, count)
        self._quotas.take(wanted, count)

    def refused(self, wanted: Wanted, count: int = 1) -> Refused | None:
        """Why so many more cannot be had; None when they can."""
        exceeded = self._quotas.exceeded(wanted, count)
        if exceeded is not None:
            return over_quota(exceeded)
        if self._market.room(wanted) >= count:
            return None
        return out_of_stock(wanted, self._project, self._elsewhere(wanted, count))

    def _elsewhere(self, wanted: Wanted, count: int) -> list[str]:
        """Zones of the region that have what this one lacks."""
        kinds = (wanted._replace(zone=zone) for zone in self._places.zones_of(wanted.region))
        return [
            kind.zone
            for kind in kinds
            if self._places.sells(kind.zone, kind.type) and self._market.room(kind) >= count
        ]

    def fits(self, wanted: Wanted) -> int:
        """How many more the zone has."""
        return max(0, self._market.room(wanted))


def over_quota(exceeded: Exceeded) -> Refused:
    """Quota is refused by metric, with limit and place."""
    metric, _, family = exceeded.metric.partition(":")
    place = f"in region {exceeded.scope}" if exceeded.scope != "global" else "globally"
    regional = "-region" if exceeded.scope != "global" else ""
    limit = f"{exceeded.limit:.1f}"
    message = f"Quota '{metric}' exceeded.  Limit: {limit} {place}."
    dimensions = {"region": exceeded.scope} if exceeded.scope != "global" else {}
    if family:
        dimensions["gpu_family"] = family
    detail = {
        "quotaInfo": {
            "metricName": f"compute.googleapis.com/{metric.lower()}",
            "limitName": f"{metric.replace('_', '-')}-per-project{regional}",
            "dimensions": dimensions,
            "limit": exceeded.limit,
        }
    }
    return Refused(
        403, "FORBIDDEN", {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": [detail]}
    )


def out_of_stock(wanted: Wanted, project: str, elsewhere: Sequence[str] = ()) -> Refused:
    """Stock is refused by zone, with what was asked for, and where else there is some."""
    resource = f"projects/{project}/zones/{wanted.zone}"
    attached = f" with {wanted.chips} {wanted.chip} accelerator(s)" if wanted.chip else ""
    message = (
        f"The zone '{resource}' does not have enough resources available to fulfill the request. "
        " '(resource type:compute)'."
    )
    others = (
        f"Consider trying your request in the {', '.join(elsewhere)} zone(s), which currently has "
        "capacity to accommodate your request. Alternatively, you can try your request again with "
        "a different VM hardware configuration or at a later time."
        if elsewhere
        else "Alternatively, you can try your request again with a different VM hardware "
        "configuration or at a later time."
    )
    localized = (
        f"A {wanted.type} VM instance{attached} is currently unavailable in the {wanted.zone} "
        f"zone. {others} For more information, see the troubleshooting documentation."
    )
    help_ = {"description": "Troubleshooting documentation", "url": TROUBLESHOOTING}
    details = [
        {"help": {"links": [help_]}},
        {"localizedMessage": {"locale": "en-US", "message": localized}},
        {
            "errorInfo": {
                "reason": "resource_availability",
                "domain": "compute.googleapis.com",
                "metadatas": {
                    "zone": wanted.zone,
                    "vmType": wanted.type,
                    "attachment": f"{wanted.chip}:{wanted.chips}" if wanted.chip else "",
                    "zonesAvailable": ",".join(elsewhere),
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
