"""Networks, subnetworks, firewall rules and routes; the default network is there already.

Must not move packets: machines of a twin share the host's loopback.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.fingerprints import fingerprint
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.listing import Keyed, listed
from windlass.twin.compute.scopes import Scope, already_exists, in_use, invalid

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground

AUTO_RANGE = ipaddress.ip_network("10.128.0.0/9")
FIRST_REGION = "us-central1"
"""Its range is the first of an auto mode network's, as at Google."""
DEFAULT_RULES: tuple[tuple[str, list[dict[str, Any]], str], ...] = (
    (
        "default-allow-internal",
        [
            {"IPProtocol": "tcp", "ports": ["0-65535"]},
            {"IPProtocol": "udp", "ports": ["0-65535"]},
            {"IPProtocol": "icmp"},
        ],
        "10.128.0.0/9",
    ),
    ("default-allow-ssh", [{"IPProtocol": "tcp", "ports": ["22"]}], "0.0.0.0/0"),
    ("default-allow-rdp", [{"IPProtocol": "tcp", "ports": ["3389"]}], "0.0.0.0/0"),
    ("default-allow-icmp", [{"IPProtocol": "icmp"}], "0.0.0.0/0"),
)


class Networks:
    """Networks and what belongs to one."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        self.networks = Collection(
            base,
            Kind(
                collection="networks",
                singular="network",
                complete=self._complete_network,
                check_delete=self._check_network,
            ),
        )
        self.subnetworks = Collection(
            base,
            Kind(
                collection="subnetworks",
                singular="subnetwork",
                complete=self._complete_subnetwork,
                check_delete=self._check_subnetwork,
            ),
        )
        self.firewalls = Collection(
            base,
            Kind(collection="firewalls", singular="firewall", complete=self._complete_firewall),
        )
        self.routes_made = Collection(
            base, Kind(collection="routes", singular="route", complete=self._complete_route)
        )
        self._founded = base.cloud.documents("compute.founded")
        if "default" not in self._founded:
            self._found()
        base.asks.checks.append(self.check_ask)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self.networks.routes(),
            **self.subnetworks.routes(),
            **self.firewalls.routes(),
            **self.routes_made.routes(),
            **locked(
                {
                    "compute.networks.delete": self.delete_network,
                    "compute.networks.switchToCustomMode": self.switch_to_custom,
                    "compute.networks.get": self.get_network,
                    "compute.networks.list": self.list_networks,
                    "compute.subnetworks.setPrivateIpGoogleAccess": self.set_google_access,
                    "compute.subnetworks.expandIpCidrRange": self.expand,
                    "compute.routes.list": self.list_routes,
                }
            ),
        }

    def check_ask(self, properties: dict[str, Any], scope: Scope) -> None:
        """Refuse an instance in a network that is not there."""
        for index, one in enumerate(properties.get("networkInterfaces") or []):
            for field, shelf in (
                ("network", self.networks.shelf),
                ("subnetwork", self.subnetworks.shelf),
            ):
                url = one.get(field)
                if not url:
                    continue
                named = parts(url)
                region = named.get("regions", "")
                owner = Scope(
                    named.get("projects", scope.project), "regions" if region else "global", region
                )
                if owner.key(last(url)) not in shelf:
                    why = f"The referenced {field} resource cannot be found."
                    raise invalid(f"networkInterfaces[{index}].{field}", url, why)

    def of_network(self, url: str) -> list[dict[str, Any]]:
        """The firewall rules of a network, the most important first."""
        rules = [rule for _, rule in self.firewalls.shelf.items() if rule["network"] == url]
        return sorted(rules, key=lambda rule: (rule["priority"], rule["name"]))

    # --- networks

    def get_network(self, call: Call) -> dict[str, Any]:
        """One network, with its subnetworks."""
        return self._shown(self.networks.found(call)[1])

    def list_networks(self, call: Call) -> dict[str, Any]:
        """All of them."""
        found = self.networks.shelf.under(Scope(call.project, "global").key(""))
        return listed(call, "network", ((key, self._shown(one)) for key, one in found))

    def delete_network(self, call: Call) -> dict[str, Any]:
        """Gone, with the subnetworks that Google made for it."""
        _, network = self.networks.found(call)
        operation = self.networks.delete(call)
        for key, subnetwork in list(self.subnetworks.shelf.under(f"{call.project}/")):
            if subnetwork["network"] == network["selfLink"]:
                self.subnetworks.shelf.drop(key)
        for key, route in list(self.routes_made.shelf.under(f"{call.project}/")):
            if route["network"] == network["selfLink"]:
                self.routes_made.shelf.drop(key)
        return operation

    def switch_to_custom(self, call: Call) -> dict[str, Any]:
        """From now on its subnetworks are the user's."""
        scope, network = self.networks.found(call)
        network["autoCreateSubnetworks"] = False
        self.networks.shelf.put(scope.key(network["name"]), network)
        return self.networks.operation(call, scope, network)

    def _shown(self, network: dict[str, Any]) -> dict[str, Any]:
        link = network["selfLink"]
        own = [one["selfLink"] for one in self._subnetworks_of(link)]
        return {**network, "subnetworks": own} if own else network

    def _subnetworks_of(self, link: str) -> list[dict[str, Any]]:
        return [one for _, one in self.subnetworks.shelf.items() if one["network"] == link]

    def _complete_network(self, call: Call | None, scope: Scope, network: dict[str, Any]) -> None:
        network.setdefault("autoCreateSubnetworks", True)
        network.setdefault("routingConfig", {"routingMode": "REGIONAL"})
        network.setdefault("mtu", 1460)
        network.setdefault("networkFirewallPolicyEnforcementOrder", "AFTER_CLASSIC_FIREWALL")
        network["selfLinkWithId"] = scope.link("networks", network["id"])
        if network["autoCreateSubnetworks"]:
            places = [Scope(scope.project, "regions", one) for one in self._base.places.regions]
            for place in places:  # All of them, before the first is made.
                if place.key(network["name"]) in self.subnetworks.shelf:
                    raise already_exists(place, "subnetworks", network["name"])
            for place in places:
                region = place.place
                body = {"name": network["name"], "network": network["selfLink"]}
                self.subnetworks.make(
                    call, place, {**body, "ipCidrRange": str(self._auto_range(region))}
                )
        body = {
            "name": f"default-route-{network['id'][:16]}",
            "description": "Default route to the Internet.",
            "network": network["selfLink"],
            "destRange": "0.0.0.0/0",
            "nextHopGateway": scope.link("gateways", "default-internet-gateway"),
        }
        self.routes_made.make(call, scope, body)

    def _auto_range(self, region: str) -> ipaddress.IPv4Network:
        others = [one for one in self._base.places.regions if one != FIRST_REGION]
        index = 0 if region == FIRST_REGION else 1 + others.index(region)
        first = int(AUTO_RANGE.network_address) + index * 4096
        return ipaddress.IPv4Network((first, 20))

    def _check_network(self, scope: Scope, network: dict[str, Any]) -> None:
        link = network["selfLink"]
        users = [rule["selfLink"] for rule in self.of_network(link)]
        if not network["autoCreateSubnetworks"]:
            users += [one["selfLink"] for one in self._subnetworks_of(link)]
        for instance in self._base.instances.under(f"{scope.project}/"):
            interfaces = instance.value("networkInterfaces") or []
            names = {last(one.get("network") or "default") for one in interfaces} or {"default"}
            if network["name"] in names:
                users.append(instance.link)
                break
        if users:
            raise in_use(link, users[0])

    # --- subnetworks

    def set_google_access(self, call: Call) -> dict[str, Any]:
        """Whether machines without an external address reach Google's APIs."""
        scope, subnetwork = self.subnetworks.found(call)
        subnetwork["privateIpGoogleAccess"] = bool(call.body.get("privateIpGoogleAccess"))
        self.subnetworks.shelf.put(scope.key(subnetwork["name"]), subnetwork)
        return self.subnetworks.operation(call, scope, subnetwork)

    def expand(self, call: Call) -> dict[str, Any]:
        """A range that holds the present one."""
        scope, subnetwork = self.subnetworks.found(call)
        text = call.body.get("ipCidrRange", "")
        wider = _range(text)
        if not _range(subnetwork["ipCidrRange"]).subnet_of(wider):
            raise invalid("ipCidrRange", text, "The new range must contain the present one.")
        subnetwork["ipCidrRange"] = text
        self.subnetworks.shelf.put(scope.key(subnetwork["name"]), subnetwork)
        return self.subnetworks.operation(call, scope, subnetwork)

    def _complete_subnetwork(self, call: Call | None, scope: Scope, one: dict[str, Any]) -> None:
        network = self.networks.shelf.get(Scope(scope.project, "global").key(last(one["network"])))
        is_own = call is None or call.method.id == "compute.networks.insert"
        if network is None and not is_own:
            raise invalid("network", one["network"], "The referenced network cannot be found.")
        text = one.get("ipCidrRange", "")
        mine = _range(text)
        for other in self._subnetworks_of(one["network"]):
            if _range(other["ipCidrRange"]).overlaps(mine):
                why = f"IP range conflicts with subnetwork '{other['name']}'."
                raise invalid("ipCidrRange", text, why)
        one["gatewayAddress"] = str(mine.network_address + 1)
        one.setdefault("privateIpGoogleAccess", False)
        one.setdefault("purpose", "PRIVATE")
        one.setdefault("stackType", "IPV4_ONLY")
        one.setdefault("privateIpv6GoogleAccess", "DISABLE_GOOGLE_ACCESS")
        one["fingerprint"] = fingerprint(one["id"])

    def _check_subnetwork(self, scope: Scope, one: dict[str, Any]) -> None:
        for zone in self._base.places.zones_of(scope.place):
            for instance in self._base.instances.under(f"{scope.project}/zones/{zone}/"):
                interfaces = instance.value("networkInterfaces") or []
                if any(face.get("subnetwork") == one["selfLink"] for face in interfaces):
                    raise in_use(one["selfLink"], instance.link)

    # --- firewall rules and routes

    def _complete_firewall(self, call: Call | None, scope: Scope, rule: dict[str, Any]) -> None:
        rule.setdefault("network", scope.link("networks", "default"))
        rule.setdefault("direction", "INGRESS")
        rule.setdefault("priority", 1000)
        rule.setdefault("disabled", False)
        rule.setdefault("logConfig", {"enable": False})
        is_open = rule["direction"] == "INGRESS" and not any(
            rule.get(field) for field in ("sourceRanges", "sourceTags", "sourceServiceAccounts")
        )
        if is_open:
            rule["sourceRanges"] = ["0.0.0.0/0"]
        if not rule.get("allowed") and not rule.get("denied"):
            raise invalid("allowed", "", "At least one of allowed and denied must be specified.")

    def _complete_route(self, call: Call | None, scope: Scope, route: dict[str, Any]) -> None:
        route.setdefault("network", scope.link("networks", "default"))
        route.setdefault("priority", 1000)

    def list_routes(self, call: Call) -> dict[str, Any]:
        """Those that were made, and one for every subnetwork."""
        scope = Scope(call.project, "global")
        made = self.routes_made.shelf.under(scope.key(""))
        return listed(call, "route", [*made, *self._subnetwork_routes(scope)])

    def _subnetwork_routes(self, scope: Scope) -> Iterable[Keyed]:
        for _, one in self.subnetworks.shelf.under(f"{scope.project}/"):
            name = f"default-route-r-{one['id'][:16]}"
            yield (
                scope.key(name),
                {
                    "kind": "compute#route",
                    "id": one["id"],
                    "name": name,
                    "description": "Default local route to the subnetwork.",
                    "creationTimestamp": one["creationTimestamp"],
                    "network": one["network"],
                    "destRange": one["ipCidrRange"],
                    "nextHopNetwork": one["network"],
                    "priority": 0,
                    "selfLink": scope.link("routes", name),
                },
            )

    def _found(self) -> None:
        """What every new project has."""
        scope = Scope(self._base.cloud.settings.project, "global")
        body = {"name": "default", "description": "Default network for the project"}
        network = self.networks.make(None, scope, body)
        for name, allowed, source in DEFAULT_RULES:
            rule = {
                "name": name,
                "network": network["selfLink"],
                "allowed": allowed,
                "sourceRanges": [source],
                "priority": 65534,
            }
            self.firewalls.make(None, scope, rule)
        self._founded.put("default", {})


def _range(text: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as exc:
        raise invalid("ipCidrRange", text, "Must be a valid IPv4 range in CIDR form.") from exc
