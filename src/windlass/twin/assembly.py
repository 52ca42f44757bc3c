"""Puts a twin together: the state, the services, and the door in front of them.

Must not open sockets or start threads: the server does, and a simulation needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin import sundry
from windlass.twin.access.accounts import Rsa, ServiceAccounts
from windlass.twin.access.acting import Acting
from windlass.twin.access.apis import EnabledApis
from windlass.twin.access.buckets import GuardedStore, Store
from windlass.twin.access.guard import Access
from windlass.twin.access.oauth import OAuth
from windlass.twin.access.policies import Policies
from windlass.twin.access.projects import Projects
from windlass.twin.admin import Admin
from windlass.twin.billing import Billing
from windlass.twin.call import Route
from windlass.twin.compute.guest import InstanceGuest
from windlass.twin.compute.power import Consoles
from windlass.twin.compute.service import Compute
from windlass.twin.discovery.router import Router
from windlass.twin.door import Door, Services, Surface, Watcher
from windlass.twin.faults.incidents import Stage
from windlass.twin.faults.service import FaultService
from windlass.twin.fleet import Fleet
from windlass.twin.logging.instance_events import EVENTS, InstanceEvents
from windlass.twin.logging.logs import Logs
from windlass.twin.logging.service import Logging
from windlass.twin.machine import Bodies
from windlass.twin.market import Market
from windlass.twin.metadata.server import MetadataServer
from windlass.twin.quotas import Quotas
from windlass.twin.tokens import Tokens
from windlass.twin.tpu.service import Tpu
from windlass.twin.vertex.service import Vertex
from windlass.twin.vertex.speech import Speech

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What only the outside can give."""

    token: str
    """Of the twin's owner."""
    rsa: Rsa
    bodies: Bodies | None = None
    consoles: Consoles | None = None
    surfaces: Sequence[Surface] = ()
    """What else is behind the door."""
    store: Store | None = None
    """Cloud Storage, which keeps its things itself."""
    watcher: Watcher | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A twin that answers requests."""

    cloud: Cloud
    door: Door
    fleet: Fleet
    compute: Compute
    tpu: Tpu
    vertex: Vertex
    logs: Logs
    market: Market
    quotas: Quotas
    billing: Billing
    tokens: Tokens
    metadata: MetadataServer
    accounts: ServiceAccounts
    policies: Policies
    apis: EnabledApis
    faults: FaultService

    def poll(self) -> None:
        """Notice what machines have done by themselves; called now and then, under the lock."""
        self.fleet.poll()
        self.vertex.collect()


class Gate(NamedTuple):
    """Who may come in."""

    policies: Policies
    apis: EnabledApis
    accounts: ServiceAccounts
    tokens: Tokens


class Yard(NamedTuple):
    """What there is to rent, and what is rented."""

    market: Market
    quotas: Quotas
    billing: Billing
    fleet: Fleet


class Rental(NamedTuple):
    """The services that rent machines out."""

    compute: Compute
    tpu: Tpu
    vertex: Vertex
    logs: Logs


def build(cloud: Cloud, *, catalog: Catalog, parts: Parts) -> Twin:
    """All services of a twin around one cloud."""
    gate = _gate(cloud, parts)
    yard = _yard(cloud, catalog, parts)
    rental = _rental(cloud, catalog, parts, gate=gate, yard=yard)
    faults = _faults(cloud, catalog, gate=gate, yard=yard, rental=rental)
    return Twin(
        cloud=cloud,
        door=_door(cloud, parts, gate=gate, yard=yard, rental=rental, faults=faults),
        metadata=_metadata(cloud, gate=gate, fleet=yard.fleet, rental=rental),
        faults=faults,
        **gate._asdict(),
        **yard._asdict(),
        **rental._asdict(),
    )


def _gate(cloud: Cloud, parts: Parts) -> Gate:
    policies = Policies(cloud)
    accounts = ServiceAccounts(cloud, policies=policies, rsa=parts.rsa)
    tokens = Tokens(cloud, home=parts.token, keys=accounts)
    cloud.on("token.over", tokens.forget)
    return Gate(policies, EnabledApis(cloud), accounts, tokens)


def _yard(cloud: Cloud, catalog: Catalog, parts: Parts) -> Yard:
    market = Market(cloud)
    quotas = Quotas(cloud, catalog=catalog)
    billing = Billing(cloud, catalog=catalog)
    fleet = Fleet(cloud, market=market, quotas=quotas, billing=billing, bodies=parts.bodies)
    return Yard(market, quotas, billing, fleet)


def _rental(cloud: Cloud, catalog: Catalog, parts: Parts, *, gate: Gate, yard: Yard) -> Rental:
    stock: dict[str, Any] = {"market": yard.market, "quotas": yard.quotas, "fleet": yard.fleet}
    compute = Compute(cloud, catalog=catalog, policies=gate.policies, **stock)
    tpu = Tpu(
        cloud,
        catalog=catalog,
        project_metadata=lambda: compute.instances.project_metadata,
        **stock,
    )
    logs = Logs(cloud)
    compute.instances.listen(InstanceEvents(logs), EVENTS)
    speech = Speech(cloud, logs=logs, fleet=yard.fleet, consoles=parts.consoles)
    vertex = Vertex(cloud, catalog=catalog, speech=speech, **stock)
    return Rental(compute, tpu, vertex, logs)


def _metadata(cloud: Cloud, *, gate: Gate, fleet: Fleet, rental: Rental) -> MetadataServer:
    return MetadataServer(
        cloud,
        fleet=fleet,
        tokens=gate.tokens,
        guests={
            "compute": InstanceGuest(cloud, rental.compute.instances),
            "tpu": rental.tpu.guest,
            "aiplatform": rental.vertex.guest,
        },
        is_account=gate.accounts.exists,
    )


def _faults(
    cloud: Cloud, catalog: Catalog, *, gate: Gate, yard: Yard, rental: Rental
) -> FaultService:
    compute = rental.compute
    stage = Stage(
        fleet=yard.fleet,
        market=yard.market,
        quotas=yard.quotas,
        apis=gate.apis,
        policies=gate.policies,
        instances=compute.instances,
        maintenance=compute.maintenance,
        resizes=compute.resize_requests,
    )
    faults = FaultService(cloud, catalog=catalog, stage=stage, billing=yard.billing)
    faults.door.services += [compute.base.operations, rental.tpu.operations]
    return faults


def _door(
    cloud: Cloud, parts: Parts, *, gate: Gate, yard: Yard, rental: Rental, faults: FaultService
) -> Door:
    def status(_: Mapping[str, Any]) -> dict[str, Any]:
        live, modelled = yard.fleet.counts()
        return {
            "time": cloud.clock.now(),
            "machines": {"live": live, "modelled": modelled},
            "bill_usd": yard.billing.total_usd() + yard.fleet.accruing_usd(),
            "requests": door.served,
        }

    surfaces: list[Surface] = [Admin(cloud, {"status": status, **faults.acts}), *parts.surfaces]
    if parts.store is not None:
        surfaces.append(
            GuardedStore(
                parts.store, apis=gate.apis, policies=gate.policies, settings=cloud.settings
            )
        )
    routes = _routes(cloud, parts, gate=gate, fleet=yard.fleet, rental=rental)
    services = Services(
        routes=Acting(accounts=gate.accounts, policies=gate.policies).guarded(routes),
        guard=Access(apis=gate.apis, policies=gate.policies),
        surfaces=surfaces,
        open_surfaces=(OAuth(cloud, gate.tokens),),
    )
    door = Door(
        cloud,
        router=Router(),
        tokens=gate.tokens,
        services=services,
        faults=faults.door,
        watcher=parts.watcher,
    )
    return door


def _routes(
    cloud: Cloud, parts: Parts, *, gate: Gate, fleet: Fleet, rental: Rental
) -> dict[str, Route]:
    compute = rental.compute
    return {
        **compute.routes(parts.consoles),
        **rental.tpu.routes(),
        **rental.vertex.routes(),
        **Logging(cloud, rental.logs).routes(),
        **gate.apis.routes(),
        **Projects(cloud, policies=gate.policies).routes(),
        **gate.accounts.routes(gate.tokens),
        **sundry.routes(compute.base, fleet),
    }
