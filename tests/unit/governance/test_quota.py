"""What is free of each quota: limits less what runs."""

from __future__ import annotations

import pytest

from doors import CATALOG, PROJECT, House
from houses import session_of
from windlass.catalog.model import Buy
from windlass.governance.quota import Room, read_room

H100 = CATALOG.chips["H100"].quota
L4 = CATALOG.chips["L4"].quota


def room(house: House) -> Room:
    return read_room(session_of(house), PROJECT, CATALOG)


def test_what_runs_is_not_free_any_more():
    house = House()
    before = room(house)
    spot = {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}
    for name, machine in (("a", "g2-standard-4"), ("b", "a3-highgpu-8g")):
        status, answer = house.insert_vm(name, machineType=machine, scheduling=spot)
        assert status == 200, answer
    house.pass_time(120)
    after = room(house)
    for metric, chips in ((L4[Buy.SPOT], 1), (H100[Buy.SPOT], 8)):
        had, has = before.free("us-central1", metric), after.free("us-central1", metric)
        assert had - has == chips, metric
    assert before.free("us-east4", L4[Buy.SPOT]) == after.free("us-east4", L4[Buy.SPOT])


def test_slices_count_against_the_quota_of_their_zone():
    house = House()
    node = {"acceleratorType": "v5litepod-4", "runtimeVersion": "v2-alpha-tpuv5-lite"}
    path = "/v2/projects/twin-project/locations/us-west4-a/nodes?nodeId=n"
    metric = CATALOG.chips["v5e"].quota[Buy.ON_DEMAND]
    before = room(house).free("us-west4-a", metric)
    house.good("POST", "tpu.googleapis.com", path, node)
    house.pass_time(300)
    assert before - room(house).free("us-west4-a", metric) == 4


def test_the_planner_finds_a_regions_quota_also_in_zones_that_have_their_own():
    limits = {
        ("us-east5", "NVIDIA_L4_GPUS"): 8.0,
        ("us-east5-a", "TPU"): 16.0,
        ("us-east5", "ENDLESS"): float("inf"),
    }
    quota = Room(limits=limits, used={("us-east5", "NVIDIA_L4_GPUS"): 9.0}).quota()
    assert quota.left(quota.place_of("us-east5-a", "us-east5"), "NVIDIA_L4_GPUS") == 0.0
    assert quota.left(quota.place_of("us-east5-a", "us-east5"), "TPU") == 16.0
    assert quota.left("us-east5", "ENDLESS") is None


@pytest.mark.parametrize("place", ["us-central1", "nowhere"])
def test_a_metric_that_nobody_knows_is_not_known(place):
    assert Room().free(place, "NVIDIA_X9_GPUS") is None
