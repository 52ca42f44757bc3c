"""Which networks, subnetworks, rules and routers a gang needs, as the bodies that make them.

Must not ask anything of Google. Pure: it is told what there is.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windlass.catalog.model import Machine
from windlass.engines.descriptions import described
from windlass.engines.networks import PREFIX, data_nics, network_url, subnetwork_of
from windlass.errors import OptionRefused

GLOBAL = "global"
IAP_RANGE = "35.235.240.0/20"
"""Where Google's tunnels for people come from."""
MTU = 8244
RDMA_MTU = 8896
PRIMARY_POOL = "10.192.0.0/12"
DATA_POOL = "10.{}.0.0/16"
FIRST_DATA, HOST_POOL, RDMA_POOL = 207, "10.216.0.0/16", "10.217.0.0/16"
"""No two networks of one machine may overlap; Docker's 172.17.0.0/16 is left alone."""
SUBNET_BITS = 20
EVERYTHING = (
    {"IPProtocol": "tcp", "ports": ["0-65535"]},
    {"IPProtocol": "udp", "ports": ["0-65535"]},
    {"IPProtocol": "icmp"},
)
ORDER = ("networks", "subnetworks", "firewalls", "routers")
"""The order to make them in; they are deleted the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing to make."""

    scope: str
    """`global` or `regions/R`."""
    collection: str
    name: str
    body: Mapping[str, Any] = field(hash=False)
    why: str
    has_nat: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the networks are for."""

    regions: tuple[str, ...]
    machine: Machine | None = None
    """The type whose GPUs have networks of their own."""
    zones: tuple[str, ...] = ()
    """Where that type is sold, of the regions."""
    project: str
    prefix: str = PREFIX
    taken: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Ranges that subnetworks have already, by network."""


def pieces(wish: Wish) -> list[Piece]:
    """Everything that has to be there, in the order to make it."""
    _check(wish)
    found = [*_primary(wish), *_data(wish)]
    unique = {(one.scope, one.collection, one.name): one for one in found}
    return sorted(unique.values(), key=lambda one: ORDER.index(one.collection))


def _check(wish: Wish) -> None:
    if wish.machine is not None and wish.machine.name.endswith("-metal"):
        raise OptionRefused(
            f"the networks of {wish.machine.name} are made by Google with the machines",
            remedy="Ask your account team for its set-up; leave `--for` out for the rest.",
        )
    if wish.machine is not None and not wish.zones:
        raise OptionRefused(
            f"{wish.machine.name} is sold in none of {', '.join(wish.regions)}",
            remedy=f"See where it is: `windlass catalog offers --machine {wish.machine.name}`.",
        )


def _primary(wish: Wish) -> Iterator[Piece]:
    name = wish.prefix
    yield _network(wish, name, mtu=MTU, why="the gang's network")
    yield _rule(wish, name, "gang", sources=PRIMARY_POOL, allowed=EVERYTHING, why="ranks talk")
    ssh = ({"IPProtocol": "tcp", "ports": ["22"]},)
    yield _rule(wish, name, "iap", sources=IAP_RANGE, allowed=ssh, why="people, by IAP alone")
    ranges = _Ranges(wish, name, PRIMARY_POOL)
    for region in wish.regions:
        own = subnetwork_of(name, region)
        yield _subnetwork(
            wish, region, own, network=name, cidr=ranges.next(), why="buckets without the Internet"
        )
        yield _router(wish, region, own, network=name)


def _data(wish: Wish) -> Iterator[Piece]:
    if wish.machine is None:
        return
    makers: dict[str, _Ranges] = {}
    for zone in wish.zones:
        region = zone.rpartition("-")[0]
        nics = data_nics(wish.machine, prefix=wish.prefix, region=region, zone=zone)
        for nic in nics:
            pool = _pool(nic.network.removeprefix(f"{wish.prefix}-"))
            if nic.network not in makers:
                makers[nic.network] = _Ranges(wish, nic.network, pool)
                yield from _data_network(wish, nic.network, pool, zone=zone, kind=nic.nic_type)
        for nic in nics:
            yield _subnetwork(
                wish,
                region,
                nic.subnetwork,
                network=nic.network,
                cidr=makers[nic.network].of(nic.subnetwork),
                why=f"GPUs of {wish.machine.name}",
            )


def _data_network(wish: Wish, name: str, pool: str, *, zone: str, kind: str) -> Iterator[Piece]:
    """A network with the profile for RDMA takes no rules: everything is allowed in it."""
    if kind == "MRDMA":
        profile = f"projects/{wish.project}/global/networkProfiles/{zone}-vpc-roce"
        why = f"GPUs over RDMA in {zone}"
        yield _network(wish, name, mtu=RDMA_MTU, why=why, networkProfile=profile)
        return
    is_host = name.endswith("-host-1")
    yield _network(wish, name, mtu=RDMA_MTU if is_host else MTU, why="GPUs of two machines")
    yield _rule(wish, name, "gang", sources=pool, allowed=EVERYTHING, why="ranks talk")


def _pool(short: str) -> str:
    kind, _, rest = short.partition("-")
    if kind == "data":
        return DATA_POOL.format(FIRST_DATA + int(rest))
    return HOST_POOL if kind == "host" else RDMA_POOL


class _Ranges:
    """Free ranges of a pool, one after the other."""

    def __init__(self, wish: Wish, network: str, pool: str) -> None:
        taken = [ipaddress.IPv4Network(one) for one in wish.taken.get(network, ())]
        blocks = ipaddress.IPv4Network(pool).subnets(new_prefix=SUBNET_BITS)
        self._free = (one for one in blocks if not any(one.overlaps(other) for other in taken))
        self._given: dict[str, str] = {}

    def next(self) -> str:
        """One that nobody has."""
        found = next(self._free, None)
        if found is None:
            raise OptionRefused(
                "no range of addresses is left for another subnetwork",
                remedy="Remove regions that are not used: `windlass network down --region R`.",
            )
        return str(found)

    def of(self, name: str) -> str:
        """The same for the same name."""
        if name not in self._given:
            self._given[name] = self.next()
        return self._given[name]


def _network(wish: Wish, name: str, *, mtu: int, why: str, **more: Any) -> Piece:
    body = {
        "name": name,
        "description": described({"piece": "network"}),
        "autoCreateSubnetworks": False,
        "mtu": mtu,
        "routingConfig": {"routingMode": "REGIONAL"},
        **more,
    }
    return Piece(scope=GLOBAL, collection="networks", name=name, body=body, why=why)


def _subnetwork(wish: Wish, region: str, name: str, *, network: str, cidr: str, why: str) -> Piece:
    body = {
        "name": name,
        "description": described({"piece": "subnetwork"}),
        "network": _link(wish, network),
        "ipCidrRange": cidr,
        "privateIpGoogleAccess": network == wish.prefix,
    }
    scope = f"regions/{region}"
    return Piece(scope=scope, collection="subnetworks", name=name, body=body, why=why)


def _rule(
    wish: Wish,
    network: str,
    suffix: str,
    *,
    sources: str,
    allowed: Sequence[Mapping[str, Any]],
    why: str,
) -> Piece:
    name = f"{network}-{suffix}"
    body = {
        "name": name,
        "description": described({"piece": "firewall"}),
        "network": _link(wish, network),
        "direction": "INGRESS",
        "sourceRanges": [sources],
        "allowed": [dict(one) for one in allowed],
    }
    return Piece(scope=GLOBAL, collection="firewalls", name=name, body=body, why=why)


def _router(wish: Wish, region: str, name: str, *, network: str) -> Piece:
    body = {
        "name": name,
        "description": described({"piece": "router"}),
        "network": _link(wish, network),
        "nats": [
            {
                "name": name,
                "natIpAllocateOption": "AUTO_ONLY",
                "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
            }
        ],
    }
    return Piece(
        scope=f"regions/{region}",
        collection="routers",
        name=name,
        body=body,
        why="`setup` without an external address",
        has_nat=True,
    )


def _link(wish: Wish, network: str) -> str:
    return f"projects/{wish.project}/{network_url(network)}"
