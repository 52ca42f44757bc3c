"""Names of networks, and which a machine type needs."""

from __future__ import annotations

import pytest

from windlass.catalog.load import load_catalog
from windlass.engines.networks import data_nics, network_url, subnetwork_url

MACHINES = load_catalog().machines


@pytest.mark.parametrize(
    ("name", "count", "kinds"),
    [
        ("g2-standard-4", 0, set()),
        ("a3-highgpu-8g", 4, {"GVNIC"}),
        ("a3-megagpu-8g", 8, {"GVNIC"}),
        ("a3-ultragpu-8g", 9, {"GVNIC", "MRDMA"}),
        ("a4-highgpu-8g", 9, {"GVNIC", "MRDMA"}),
    ],
)
def test_a_machine_has_as_many_interfaces_as_its_type_says(name, count, kinds):
    nics = data_nics(MACHINES[name], prefix="w", region="us-east4", zone="us-east4-b")
    assert (len(nics), {nic.nic_type for nic in nics}) == (count, kinds)
    assert len({nic.subnetwork for nic in nics}) == count


def test_networks_of_rdma_are_of_one_zone():
    nics = data_nics(MACHINES["a4-highgpu-8g"], prefix="w", region="us-east4", zone="us-east4-b")
    assert {nic.network for nic in nics} == {"w-host-1", "w-rdma-us-east4-b"}


def test_a_name_becomes_an_url_and_an_url_stays_one():
    assert network_url("windlass") == "global/networks/windlass"
    assert network_url("projects/host/global/networks/n") == "projects/host/global/networks/n"
    assert subnetwork_url("s", "us-east4") == "regions/us-east4/subnetworks/s"
