"""Networks: made once, found again by what they say of themselves, removed in the right order."""

from __future__ import annotations

import ipaddress

import pytest

from claims import make_claim_request
from doors import CATALOG, PROJECT, House
from houses import session_of
from windlass.engines.compute.instance import interfaces
from windlass.engines.compute.options import ComputeOptions
from windlass.engines.tpu.request import render
from windlass.errors import EngineRejected, OptionRefused
from windlass.google.compute import Compute
from windlass.governance.network import Network, Step
from windlass.twin.settings import GOOGLE_LIKE

REGION = "us-central1"
GANG = make_claim_request(nodes=2)
SELLING = {one.region for one in CATALOG.offers(machine="a3-ultragpu-8g")}
WITHOUT = min({zone.rpartition("-")[0] for zone in CATALOG.zones} - SELLING)


class Bench:
    """A project without networks of ours."""

    def __init__(self) -> None:
        self.house = House(delays=GOOGLE_LIKE)
        self.compute = Compute(session_of(self.house), PROJECT)
        self.lives = 0

    @property
    def network(self) -> Network:
        """As each command builds it."""
        self.lives += 1
        return Network(
            self.compute, CATALOG, pause=self.house.pass_time, nonce=f"life-{self.lives}"
        )

    def up(self, *regions: str, machine: str | None = None) -> list[Step]:
        network, told = self.network, []
        network.up(network.wish(regions or (REGION,), machine), told.append)
        return told

    def down(self, *regions: str) -> list[Step]:
        told: list[Step] = []
        self.network.down(regions, told.append)
        return told

    def names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for step in self.network.show():
            found.setdefault(step.collection, []).append(step.name)
        return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_up_makes_network_subnetwork_rules_and_nat(bench):
    bench.up()
    assert bench.names() == {
        "networks": ["windlass"],
        "subnetworks": ["windlass-us-central1"],
        "firewalls": ["windlass-gang", "windlass-iap"],
        "routers": ["windlass-us-central1"],
    }
    subnet = bench.compute.get(f"regions/{REGION}", "subnetworks", "windlass-us-central1")
    assert subnet["privateIpGoogleAccess"] is True
    iap = bench.compute.get("global", "firewalls", "windlass-iap")
    assert (iap["sourceRanges"], iap["allowed"]) == (
        ["35.235.240.0/20"],
        [{"IPProtocol": "tcp", "ports": ["22"]}],
    )
    router = bench.compute.get(f"regions/{REGION}", "routers", "windlass-us-central1")
    assert router["nats"][0]["natIpAllocateOption"] == "AUTO_ONLY"


def test_up_twice_makes_nothing_twice(bench):
    first, second = bench.up(), bench.up()
    assert {step.done for step in first} == {"made"}
    assert {step.done for step in second} == {"there"}


def test_up_after_down_makes_it_all_again(bench):
    bench.up()
    bench.down()
    assert {step.done for step in bench.up()} == {"made"}


def test_a_second_region_gets_a_range_of_its_own(bench):
    bench.up()
    bench.up(REGION, "europe-west4")
    ranges = [
        ipaddress.ip_network(one["ipCidrRange"])
        for _, one in bench.compute.everywhere("subnetworks")
        if one["name"].startswith("windlass")
    ]
    assert len(ranges) == 2
    assert not ranges[0].overlaps(ranges[1])


@pytest.mark.parametrize(
    ("machine", "networks", "subnets", "mtus"),
    [
        ("a3-highgpu-8g", 5, 5, {8244}),
        ("a3-megagpu-8g", 9, 9, {8244}),
        ("a3-ultragpu-8g", None, None, {8244, 8896}),
    ],
)
def test_gpudirect_machines_get_networks_of_their_own(bench, machine, networks, subnets, mtus):
    bench.up(machine=machine)
    names = bench.names()
    made = [bench.compute.get("global", "networks", name) for name in names["networks"]]
    assert {one["mtu"] for one in made} == mtus
    if networks is not None:
        assert (len(names["networks"]), len(names["subnetworks"])) == (networks, subnets)
        return
    zones = {one.zone for one in CATALOG.offers(machine=machine) if one.region == REGION}
    rdma = [one for one in made if "-rdma-" in one["name"]]
    assert {one["networkProfile"].rpartition("/")[2] for one in rdma} == {
        f"{zone}-vpc-roce" for zone in zones
    }
    assert len(names["subnetworks"]) == 2 + 8 * len(zones)
    assert not [name for name in names["firewalls"] if "-rdma-" in name]


@pytest.mark.parametrize("machine", ["a3-highgpu-8g", "a3-megagpu-8g", "a3-ultragpu-8g"])
def test_every_network_that_a_machine_is_attached_to_is_there(bench, machine):
    bench.up(machine=machine)
    offer = next(one for one in CATALOG.offers(machine=machine) if one.region == REGION)
    for nic in interfaces(GANG, offer, ComputeOptions(network="windlass")):
        name = nic["subnetwork"].rpartition("/")[2]
        assert nic["network"].startswith("global/networks/windlass")
        subnet = bench.compute.get(f"regions/{REGION}", "subnetworks", name)
        assert subnet is not None, name
        assert subnet["network"].endswith(nic["network"])


@pytest.mark.parametrize("machine", ["a3-highgpu-8g", "a3-megagpu-8g"])
def test_google_takes_machines_with_all_their_interfaces(bench, machine):
    bench.up(machine=machine)
    offer = next(one for one in CATALOG.offers(machine=machine) if one.zone == "us-central1-a")
    nics = interfaces(GANG, offer, ComputeOptions(network="windlass"))
    status, answer = bench.house.insert_vm("gang-0", machineType=machine, networkInterfaces=nics)
    assert status == 200, answer
    bench.house.pass_time(120)
    instance = bench.compute.get("zones/us-central1-a", "instances", "gang-0")
    assert len(instance["networkInterfaces"]) == len(nics)
    assert {step.done for step in bench.down() if step.collection == "subnetworks"} == {"refused"}


@pytest.mark.parametrize("name", ["windlass", "research"])
def test_slices_in_a_network_of_ours_are_given_its_subnetwork(name):
    claim = make_claim_request(offer="us-west4-a/v5e-4/spot", options={"network": name})
    request = render(claim, catalog=CATALOG, defaults={}, agent_url="gs://b/a", project=PROJECT)
    config = request.body["tpu"]["nodeSpec"][0]["node"]["networkConfig"]
    own = "windlass-us-west4" if name == "windlass" else None
    assert (config["network"], config.get("subnetwork")) == (name, own)


def test_no_two_networks_of_one_machine_overlap(bench):
    bench.up(machine="a3-ultragpu-8g")
    offer = next(one for one in CATALOG.offers(machine="a3-ultragpu-8g") if one.region == REGION)
    ranges = [
        ipaddress.ip_network(
            bench.compute.get(f"regions/{REGION}", "subnetworks", one["subnetwork"].split("/")[-1])[
                "ipCidrRange"
            ]
        )
        for one in interfaces(GANG, offer, ComputeOptions(network="windlass"))
    ]
    assert len(ranges) == 10
    for index, one in enumerate(ranges):
        assert not any(one.overlaps(other) for other in ranges[index + 1 :])


def test_down_removes_what_up_made_and_nothing_else(bench):
    before = {one["name"] for one in bench.compute.listed("global", "networks")}
    bench.up(machine="a3-highgpu-8g")
    told = bench.down()
    assert {step.done for step in told} == {"removed"}
    assert bench.names() == {}
    assert {one["name"] for one in bench.compute.listed("global", "networks")} == before


@pytest.mark.parametrize("made", range(5))
def test_down_removes_what_a_crash_half_way_has_left(bench, made):
    network, told = bench.network, []

    def tell(step):
        told.append(step)
        if len(told) > made:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        network.up(network.wish((REGION,), None), tell)
    assert len(bench.down()) == made + 1
    assert bench.names() == {}


def test_down_after_a_crash_half_way_removes_the_rest(bench):
    bench.up()
    told = []

    def tell(step):
        told.append(step)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.network.down((), tell)
    bench.down()
    assert bench.names() == {}


def test_down_of_a_region_leaves_the_others(bench):
    bench.up(REGION, "europe-west4")
    bench.down("europe-west4")
    assert bench.names()["subnetworks"] == ["windlass-us-central1"]
    assert bench.names()["networks"] == ["windlass"]


def test_what_is_in_use_is_told_of_and_the_rest_goes(bench):
    bench.up()
    link = f"projects/{PROJECT}/regions/{REGION}/subnetworks/windlass-us-central1"
    nic = {"network": f"projects/{PROJECT}/global/networks/windlass", "subnetwork": link}
    bench.house.insert_vm("vm-1", networkInterfaces=[nic])
    bench.house.pass_time(60)
    done = {(step.collection, step.done) for step in bench.down()}
    assert ("routers", "removed") in done
    assert ("subnetworks", "refused") in done
    assert bench.names() == {"networks": ["windlass"], "subnetworks": ["windlass-us-central1"]}


def test_a_network_of_somebody_else_is_not_taken_over(bench):
    bench.compute.insert(
        "global",
        "networks",
        {"name": "windlass", "autoCreateSubnetworks": False},
        request_id="6f1d2a56-7b0e-4d7c-9f0a-3d0f5a1f7c12",
    )
    with pytest.raises(EngineRejected, match="somebody else made it"):
        bench.up()


@pytest.mark.parametrize(
    ("regions", "machine", "said"),
    [
        (("us-middle1",), None, "no region us-middle1"),
        ((REGION,), "g2-standard-4", "needs no networks of its own"),
        ((REGION,), "no-such-type", "needs no networks of its own"),
        ((WITHOUT,), "a3-ultragpu-8g", "is sold in none of"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_made(bench, regions, machine, said):
    with pytest.raises(OptionRefused, match=said):
        bench.up(*regions, machine=machine)
    assert bench.names() == {}


def test_the_nat_is_what_costs(bench):
    told = bench.up(REGION, "europe-west4")
    assert sum(step.usd_per_day for step in told) == pytest.approx(2 * 24 * 0.0448)
