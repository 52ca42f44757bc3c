"""Cloud Routers with their NATs, and reserved addresses.

Must not translate anything: that a machine has a way out is only written down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.links import BASE
from windlass.twin.compute.scopes import Scope, invalid

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground


class Routers:
    """Routers of regions."""

    def __init__(self, base: Ground) -> None:
        kind = Kind(collection="routers", singular="router", complete=_complete_router)
        self._collection = Collection(base, kind)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self._collection.routes(),
            **locked(
                {
                    "compute.routers.getNatMappingInfo": self.nat_mappings,
                    "compute.routers.getRouterStatus": self.status,
                }
            ),
        }

    def nat_mappings(self, call: Call) -> dict[str, Any]:
        """Which machines use which ports; none do."""
        self._collection.found(call)
        rest = call.request.path.removeprefix("/compute/").partition("/")[2]
        return {
            "kind": "compute#vmEndpointNatMappingsList",
            "id": rest,
            "selfLink": BASE + rest,
            "result": [],
        }

    def status(self, call: Call) -> dict[str, Any]:
        """How its NATs do."""
        _, router = self._collection.found(call)
        nats = [
            {"name": nat["name"], "numVmEndpointsWithNatMappings": 0, "minExtraNatIpsNeeded": 0}
            for nat in router.get("nats", [])
        ]
        result = {"network": router["network"], "natStatus": nats}
        return {"kind": "compute#routerStatusResponse", "result": result}


class Addresses:
    """Reserved addresses, of regions and global."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        kind = Kind(
            collection="addresses", singular="address", has_labels=True, complete=self._complete
        )
        self._collection = Collection(base, kind)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self._collection.routes(),
            **self._collection.routes(group="globalAddresses"),
        }

    def _complete(self, call: Call | None, scope: Scope, address: dict[str, Any]) -> None:
        address.setdefault("addressType", "EXTERNAL")
        address["status"] = "RESERVED"
        is_external = address["addressType"] == "EXTERNAL"
        if is_external:
            address.setdefault("networkTier", "PREMIUM")
            address.setdefault("ipVersion", "IPV4")
        else:
            address.setdefault("purpose", "GCE_ENDPOINT")
        taken = {one.get("address") for _, one in self._collection.shelf.items()}
        if "address" not in address:
            # External ones are of a block that is kept for documentation.
            head = "198.51.100." if is_external else "10.255.255."
            free = (f"{head}{number}" for number in range(2, 255))
            address["address"] = next((one for one in free if one not in taken), f"{head}254")
        elif address["address"] in taken:
            raise invalid("address", address["address"], "Specified IP address is in-use.")


def _complete_router(call: Call | None, scope: Scope, router: dict[str, Any]) -> None:
    router.setdefault("network", Scope(scope.project, "global").link("networks", "default"))
    for nat in router.get("nats", []):
        nat.setdefault("natIpAllocateOption", "AUTO_ONLY")
        nat.setdefault("sourceSubnetworkIpRangesToNat", "ALL_SUBNETWORKS_ALL_IP_RANGES")
        nat.setdefault("enableEndpointIndependentMapping", False)
        nat.setdefault("type", "PUBLIC")
