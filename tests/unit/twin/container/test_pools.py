from __future__ import annotations

from typing import Any

import pytest

from clusters import POOLS, Clusters
from windlass.twin.market import Model, Rule
from windlass.twin.settings import GOOGLE_LIKE

L4 = "g2-standard-4"


def with_cluster(**given: Any) -> Clusters:
    google = Clusters(**given)
    google.cluster()
    google.pass_time(google.cloud.settings.delays.cluster + 1)
    return google


def test_nodes_of_a_pool_are_machines_with_its_chips() -> None:
    google = with_cluster()
    accelerators = [{"acceleratorType": "nvidia-tesla-a100", "acceleratorCount": "4"}]
    google.pool("gpu", "a2-highgpu-4g", count=2, config={"accelerators": accelerators})
    nodes = google.nodes("gpu")
    assert [(node.wanted.chip, node.wanted.chips) for node in nodes] == [
        ("nvidia-tesla-a100", 4),
        ("nvidia-tesla-a100", 4),
    ]
    assert google.twin.quotas.usage("us-central1", "NVIDIA_A100_GPUS") == 8
    assert google.shown("gpu")["config"]["accelerators"] == accelerators


MODELS: dict[str, tuple[dict[str, Any], Model]] = {
    "on demand": ({}, Model.STANDARD),
    "spot": ({"spot": True}, Model.SPOT),
    "preemptible": ({"preemptible": True}, Model.SPOT),
    "flex-start": ({"flexStart": True, "maxRunDuration": "7200s"}, Model.FLEX_START),
    "reserved": (
        {"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
        Model.RESERVED,
    ),
}


@pytest.mark.parametrize("case", MODELS)
def test_configuration_says_how_nodes_are_bought(case: str) -> None:
    config, model = MODELS[case]
    google = with_cluster()
    google.pool("p", L4, config=config)
    assert [node.wanted.model for node in google.nodes("p")] == [model]


def test_queued_provisioning_makes_no_nodes_by_itself() -> None:
    google = with_cluster()
    scaling = {"enabled": True, "totalMaxNodeCount": 4, "locationPolicy": "ANY"}
    google.pool(
        "dws", "a3-highgpu-8g", count=0, queuedProvisioning={"enabled": True}, autoscaling=scaling
    )
    shown = google.shown("dws")
    assert (shown["queuedProvisioning"], shown["autoscaling"]) == ({"enabled": True}, scaling)
    assert google.nodes("dws") == []


def test_tpu_slice_has_as_many_nodes_as_its_topology_has_hosts() -> None:
    google = with_cluster()
    topology = {"tpuTopology": "2x4"}
    google.pool("tpu", "ct5lp-hightpu-4t", count=2, placementPolicy=topology)
    assert [node.wanted.chip for node in google.nodes("tpu")] == ["tpu-v5e", "tpu-v5e"]
    pool = {
        "name": "odd",
        "initialNodeCount": 3,
        "config": {"machineType": "ct5lp-hightpu-4t"},
        "placementPolicy": topology,
    }
    assert "must have 2 nodes" in google.no("POST", POOLS, {"nodePool": pool})[2]


def test_slice_that_loses_a_host_is_made_anew() -> None:
    google = with_cluster()
    google.pool("tpu", "ct5lp-hightpu-4t", count=2, placementPolicy={"tpuTopology": "2x4"})
    old = {node.id for node in google.nodes("tpu")}
    google.twin.fleet.fail(google.nodes("tpu")[0])
    assert google.nodes("tpu") == []
    google.pass_time(61)
    new = {node.id for node in google.nodes("tpu")}
    assert (len(new), new & old) == (2, set())


def test_preempted_node_is_made_anew() -> None:
    google = with_cluster()
    google.pool("spot", L4, count=2, config={"spot": True})
    victim = google.nodes("spot")[0]
    google.twin.fleet.preempt(victim)
    google.pass_time(31)
    assert victim.id not in {node.id for node in google.nodes("spot")}
    assert google.shown()["currentNodeCount"] == 2
    google.pass_time(61)
    assert len(google.nodes("spot")) == 2


def test_node_whose_time_is_up_is_not_made_anew() -> None:
    google = with_cluster()
    google.pool("flex", L4, config={"flexStart": True, "maxRunDuration": "7200s"})
    google.pass_time(7201)
    google.pass_time(120)
    assert google.nodes("flex") == []
    assert google.shown("flex")["status"] == "RUNNING"


def test_stockout_ends_the_operation_badly_and_nodes_come_when_there_is_room() -> None:
    google = with_cluster()
    rule = google.twin.market.add(Rule(what="nvidia-l4", room=1))
    operation = google.pool("gpu", L4, count=3)
    assert operation["status"] == "DONE"
    assert "GCE_STOCKOUT" in operation["statusMessage"]
    pool = google.shown("gpu")
    assert (pool["status"], len(google.nodes("gpu"))) == ("RUNNING_WITH_ERROR", 1)
    assert pool["conditions"][0]["code"] == "GCE_STOCKOUT"
    google.twin.market.remove(rule)
    google.pass_time(61)
    assert (google.shown("gpu")["status"], len(google.nodes("gpu"))) == ("RUNNING", 3)


def test_pool_without_any_node_is_in_error() -> None:
    google = with_cluster()
    google.twin.market.add(Rule(what="nvidia-l4", room=0))
    google.pool("gpu", L4)
    assert google.shown("gpu")["status"] == "ERROR"
    assert google.shown()["status"] == "RUNNING"


def test_quota_is_checked_before_anything_is_made() -> None:
    google = with_cluster()
    google.twin.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 2)
    body = {"nodePool": {"name": "gpu", "initialNodeCount": 3, "config": {"machineType": L4}}}
    code, _, message = google.no("POST", POOLS, body)
    assert code == 403
    assert "\"NVIDIA_L4_GPUS\": request requires '3.0' and is short '1.0'" in message
    assert google.no("GET", f"{POOLS}/gpu")[0] == 404


def test_pool_grows_and_shrinks() -> None:
    google = with_cluster()
    google.pool("p", L4, count=1)
    first = google.nodes("p")[0].id
    google.done("POST", f"{POOLS}/p:setSize", {"nodeCount": 3})
    assert len(google.nodes("p")) == 3
    google.done("POST", f"{POOLS}/p:setSize", {"nodeCount": 1})
    assert [node.id for node in google.nodes("p")] == [first]
    google.twin.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 2)
    assert google.no("POST", f"{POOLS}/p:setSize", {"nodeCount": 3})[0] == 403
    assert google.no("POST", f"{POOLS}/p:setSize", {"nodeCount": -1})[0] == 400


def test_autoscaling_and_management_are_kept() -> None:
    google = with_cluster()
    google.pool("p")
    scaling = {"enabled": True, "minNodeCount": 0, "maxNodeCount": 9}
    google.done("POST", f"{POOLS}/p:setAutoscaling", {"autoscaling": scaling})
    google.done("POST", f"{POOLS}/p:setManagement", {"management": {"autoRepair": False}})
    shown = google.shown("p")
    assert (shown["autoscaling"], shown["management"]) == (scaling, {"autoRepair": False})
    assert shown["status"] == "RUNNING"
    wrong = {"enabled": True, "minNodeCount": 9, "maxNodeCount": 1}
    assert google.no("POST", f"{POOLS}/p:setAutoscaling", {"autoscaling": wrong})[0] == 400


CHANGES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "labels": ({"labels": {"labels": {"a": "b"}}}, "labels", {"a": "b"}),
    "tags": ({"tags": {"tags": ["web"]}}, "tags", ["web"]),
    "resource labels": ({"resourceLabels": {"labels": {"x": "y"}}}, "resourceLabels", {"x": "y"}),
    "disk": ({"diskSizeGb": "200"}, "diskSizeGb", 200),
    "virtual network card": ({"gvnic": {"enabled": True}}, "gvnic", {"enabled": True}),
}


@pytest.mark.parametrize("case", CHANGES)
def test_update_of_a_pool_is_put_where_it_belongs(case: str) -> None:
    change, field, value = CHANGES[case]
    google = with_cluster()
    google.pool("p")
    google.done("PUT", f"{POOLS}/p", change)
    assert google.shown("p")["config"][field] == value


def test_update_changes_version_and_zones() -> None:
    google = with_cluster()
    google.pool("p")
    zones = ["us-central1-b", "us-central1-c"]
    google.done("PUT", f"{POOLS}/p", {"nodeVersion": "1.33", "locations": zones})
    shown = google.shown("p")
    assert (shown["version"], shown["locations"]) == ("1.33.5-gke.1080000", zones)
    assert sorted(node.wanted.zone for node in google.nodes("p")) == zones
    assert google.no("PUT", f"{POOLS}/p", {"image": "x"})[0] == 501


def test_deleted_pool_is_gone_with_its_nodes() -> None:
    google = with_cluster(delays=GOOGLE_LIKE)
    google.pool("p", L4)
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    google.done("DELETE", f"{POOLS}/p")
    assert (google.nodes("p"), google.shown("p")["status"]) == ([], "STOPPING")
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    assert google.no("GET", f"{POOLS}/p")[0] == 404
    assert google.twin.quotas.usage("us-central1", "NVIDIA_L4_GPUS") == 0


def test_nodes_are_billed_under_their_labels() -> None:
    google = with_cluster()
    google.pool("p", L4, config={"resourceLabels": {"windlass-run": "r1"}})
    google.pass_time(3600)
    google.done("DELETE", f"{POOLS}/p")
    (line,) = [one for one in google.twin.billing.lines() if one["type"] == L4]
    assert (line["run"], line["hours"]) == ("r1", pytest.approx(1.0, rel=0.01))


REFUSALS: dict[str, tuple[dict[str, Any], int]] = {
    "no such type": ({"name": "p", "config": {"machineType": "q9-standard-4"}}, 400),
    "wrong chips": (
        {
            "name": "p",
            "config": {"machineType": L4, "accelerators": [{"acceleratorType": "nvidia-h200"}]},
        },
        400,
    ),
    "topology of no TPU": ({"name": "p", "placementPolicy": {"tpuTopology": "2x2"}}, 400),
    "bad name": ({"name": "P"}, 400),
    "twice": ({"name": "default-pool"}, 409),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_pool_is_refused(case: str) -> None:
    pool, code = REFUSALS[case]
    assert with_cluster().no("POST", POOLS, {"nodePool": pool})[0] == code


def test_many_lost_nodes_lead_to_one_attempt_a_minute() -> None:
    google = with_cluster()
    google.pool("spot", L4, count=20, config={"spot": True})
    google.twin.market.add(Rule(what="nvidia-l4", room=0))
    google.pass_time(31)
    assert google.nodes("spot") == []
    attempts = 0
    end = google.clock.at + 600
    while (due := google.cloud.next_at()) is not None and due <= end:
        google.clock.at = due
        attempts += google.cloud.advance()
    assert attempts <= 11
