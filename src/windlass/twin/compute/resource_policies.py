"""Resource policies: how close together instances are placed, and what workloads need.

Must not place anything: a twin has no racks. It refuses what Google would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.scopes import Scope, in_use, invalid, not_found

if TYPE_CHECKING:
    from windlass.twin.call import Call, Route
    from windlass.twin.compute.ground import Ground

POLICIES = (
    "groupPlacementPolicy",
    "workloadPolicy",
    "snapshotSchedulePolicy",
    "instanceSchedulePolicy",
    "diskConsistencyGroupPolicy",
)
MOST_COLLOCATED = 1500


class ResourcePolicies:
    """The policies of regions."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        kind = Kind(
            collection="resourcePolicies",
            singular="resourcePolicy",
            complete=_complete,
            check_delete=self._check_delete,
        )
        self._collection = Collection(base, kind)
        base.asks.checks.append(self.check_ask)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return self._collection.routes()

    def check_ask(self, properties: dict[str, Any], scope: Scope) -> None:
        """Refuse a policy that is not there, or is full."""
        for url in properties.get("resourcePolicies") or []:
            region = parts(url).get("regions", scope.region)
            place = Scope(scope.project, "regions", region)
            policy = self._collection.shelf.get(place.key(last(url)))
            if policy is None:
                raise not_found(place, "resourcePolicies", last(url))
            if region != scope.region:
                why = f"The policy is in region {region}, the instance in {scope.region}."
                raise invalid("resourcePolicies[0]", url, why)
            placement = policy.get("groupPlacementPolicy") or {}
            most = int(placement.get("vmCount") or MOST_COLLOCATED)
            if placement and len(self._users(policy)) >= most:
                why = f"The placement policy already has its {most} instances."
                raise invalid("resourcePolicies[0]", url, why)

    def _users(self, policy: dict[str, Any]) -> list[str]:
        named = parts(policy["selfLink"])
        return [
            instance.link
            for zone in self._base.places.zones_of(named["regions"])
            for instance in self._base.instances.under(f"{named['projects']}/zones/{zone}/")
            if policy["selfLink"] in (instance.value("resourcePolicies") or ())
        ]

    def _check_delete(self, scope: Scope, policy: dict[str, Any]) -> None:
        users = self._users(policy)
        if users:
            raise in_use(policy["selfLink"], users[0])


def _complete(call: Call | None, scope: Scope, policy: dict[str, Any]) -> None:
    if sum(field in policy for field in POLICIES) != 1:
        raise invalid("name", policy["name"], "Exactly one kind of policy must be specified.")
    policy["status"] = "READY"
