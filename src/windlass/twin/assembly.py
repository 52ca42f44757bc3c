"""Puts a twin together: the state, the services, and the door in front of them.

Must not open sockets or start threads: the server does, and a simulation needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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


def build(cloud: Cloud, *, catalog: Catalog, parts: Parts) -> Twin:
    """All services of a twin around one cloud."""
    policies = Policies(cloud)
    apis = EnabledApis(cloud)
    accounts = ServiceAccounts(cloud, policies=policies, rsa=parts.rsa)
    tokens = Tokens(cloud, home=parts.token, keys=accounts)
    cloud.on("token.over", tokens.forget)
    market = Market(cloud)
    quotas = Quotas(cloud, catalog=catalog)
    billing = Billing(cloud, catalog=catalog)
    fleet = Fleet(cloud, market=market, quotas=quotas, billing=billing, bodies=parts.bodies)
    compute = Compute(
        cloud, catalog=catalog, policies=policies, market=market, quotas=quotas, fleet=fleet
    )
    tpu = Tpu(
        cloud,
        catalog=catalog,
        market=market,
        quotas=quotas,
        fleet=fleet,
        project_metadata=lambda: compute.instances.project_metadata,
    )
    logs = Logs(cloud)
    compute.instances.listen(InstanceEvents(logs), EVENTS)
    speech = Speech(cloud, logs=logs, fleet=fleet, consoles=parts.consoles)
    vertex = Vertex(
        cloud, catalog=catalog, market=market, quotas=quotas, fleet=fleet, speech=speech
    )
    metadata = MetadataServer(
        cloud,
        fleet=fleet,
        tokens=tokens,
        guests={
            "compute": InstanceGuest(cloud, compute.instances),
            "tpu": tpu.guest,
            "aiplatform": vertex.guest,
        },
        is_account=accounts.exists,
    )
    routes: dict[str, Route] = {
        **compute.routes(parts.consoles),
        **tpu.routes(),
        **vertex.routes(),
        **Logging(cloud, logs).routes(),
        **apis.routes(),
        **Projects(cloud, policies=policies).routes(),
        **accounts.routes(tokens),
        **sundry.routes(compute.base, fleet),
    }

    stage = Stage(
        fleet=fleet,
        market=market,
        quotas=quotas,
        apis=apis,
        policies=policies,
        instances=compute.instances,
        maintenance=compute.maintenance,
        resizes=compute.resize_requests,
    )
    faults = FaultService(cloud, catalog=catalog, stage=stage, billing=billing)
    faults.door.services += [compute.base.operations, tpu.operations]

    def status(_: Mapping[str, Any]) -> dict[str, Any]:
        live, modelled = fleet.counts()
        return {
            "time": cloud.clock.now(),
            "machines": {"live": live, "modelled": modelled},
            "bill_usd": billing.total_usd(),
            "requests": door.served,
        }

    surfaces: list[Surface] = [Admin(cloud, {"status": status, **faults.acts}), *parts.surfaces]
    if parts.store is not None:
        surfaces.append(
            GuardedStore(parts.store, apis=apis, policies=policies, settings=cloud.settings)
        )
    services = Services(
        routes=Acting(accounts=accounts, policies=policies).guarded(routes),
        guard=Access(apis=apis, policies=policies),
        surfaces=surfaces,
        open_surfaces=(OAuth(cloud, tokens),),
    )
    door = Door(
        cloud,
        router=Router(),
        tokens=tokens,
        services=services,
        faults=faults.door,
        watcher=parts.watcher,
    )
    return Twin(
        cloud=cloud,
        door=door,
        fleet=fleet,
        compute=compute,
        tpu=tpu,
        vertex=vertex,
        logs=logs,
        market=market,
        quotas=quotas,
        billing=billing,
        tokens=tokens,
        metadata=metadata,
        accounts=accounts,
        policies=policies,
        apis=apis,
        faults=faults,
    )
