from __future__ import annotations

import pytest

from buckets import HandClock
from vms import CATALOG
from windlass.ports.entropy import seeded
from windlass.twin import sundry
from windlass.twin.access.policies import Policies
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.compute.service import Compute
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.documents import available
from windlass.twin.fleet import Fleet
from windlass.twin.market import Market
from windlass.twin.quotas import Quotas

SERVICES = (
    "billingbudgets",
    "cloudquotas",
    "container",
    "monitoring",
    "oslogin",
    "secretmanager",
)


@pytest.fixture(scope="module")
def modelled() -> list[str]:
    cloud = Cloud(clock=HandClock(), chance=seeded(7))
    market, quotas = Market(cloud), Quotas(cloud, catalog=CATALOG)
    billing = Billing(cloud, catalog=CATALOG)
    fleet = Fleet(cloud, market=market, quotas=quotas, billing=billing)
    policies = Policies(cloud)
    compute = Compute(
        cloud, catalog=CATALOG, policies=policies, market=market, quotas=quotas, fleet=fleet
    )
    return sorted(sundry.routes(compute.base, fleet))


@pytest.mark.parametrize("service", SERVICES)
def test_every_method_that_is_modelled_is_one_of_googles(service: str, modelled: list[str]) -> None:
    apis = [load_api(service, version) for version in available()[service]]
    exist = {method for api in apis for method in api.method_ids}
    own = {method for method in modelled if method.startswith(f"{service}.")}
    assert own
    assert sorted(own - exist) == []
