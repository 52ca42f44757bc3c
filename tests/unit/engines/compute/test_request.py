"""Asks for machines: kept as golden files, and as Google's documents have them."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import pytest

from rented import PROJECT, readable, rented_claim
from rented_machines import CLAIMS, render_claim, rendered
from windlass.engines.compute.calls import calls
from windlass.engines.compute.request import ComputeRequest
from windlass.errors import EngineRejected
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check, check_query

SCHEMAS = {
    "bulkInsert": "BulkInsertInstanceResource",
    "instanceGroupManagers": "InstanceGroupManager",
    "instanceTemplates": "InstanceTemplate",
    "resizeRequests": "InstanceGroupManagerResizeRequest",
    "resourcePolicies": "ResourcePolicy",
}
SCRIPTS = {"a3-high": "tcpx", "a3-mega": "tcpxo", "a3-ultra": "rdma-a3-ultra", "a4": "rdma-a4"}


def bodies(request: ComputeRequest) -> dict[str, dict]:
    return {one.collection.rpartition("/")[2]: dict(one.body) for one in request.inserts}


def properties_of(request: ComputeRequest) -> dict:
    made = bodies(request)
    if "bulkInsert" in made:
        return made["bulkInsert"]["instanceProperties"]
    return made["instanceTemplates"]["properties"]


def script_of(request: ComputeRequest) -> str:
    items = properties_of(request)["metadata"]["items"]
    return next(one["value"] for one in items if one["key"] == "startup-script")


@pytest.mark.parametrize("name", CLAIMS)
def test_a_request_is_rendered_as_it_is_kept(name, golden):
    shown = [one.document() for one in calls(rendered(name), project=PROJECT)]
    golden.check(f"compute/{name}.json", readable(shown))


def test_a_start_up_script_is_as_it_is_kept(golden):
    golden.check("compute/cpu.sh", script_of(rendered("cpu")))


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_gangs_nodes_set_up_for_their_gpus_is_as_it_is_kept(name, golden):
    _, before, rest = script_of(rendered(name)).partition("# GPUDirect")
    golden.check(f"compute/{SCRIPTS[name]}.sh", before + rest.partition("for wait in 1 2")[0])


@pytest.mark.parametrize("name", CLAIMS)
def test_a_start_up_script_is_one_that_bash_takes(name):
    checked = subprocess.run(
        ["bash", "-n"], input=script_of(rendered(name)), text=True, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", CLAIMS)
def test_every_call_is_one_of_googles_document(name):
    api = load_api("compute", "v1")
    for one in calls(rendered(name), project=PROJECT):
        collection = one.url.rpartition("/")[2]
        assert check(api, SCHEMAS[collection], json.loads(json.dumps(one.body))) == []
        match = api.match("POST", one.url.removeprefix("https://compute.googleapis.com"))
        assert check_query(match.method, one.query) == []


def test_rendering_twice_gives_the_same():
    assert render_claim(CLAIMS["a3-mega"]) == render_claim(CLAIMS["a3-mega"])


@pytest.mark.parametrize(
    ("name", "count", "kinds"),
    [
        ("a3-high", 5, {"GVNIC"}),
        ("a3-mega", 9, {"GVNIC"}),
        ("a3-ultra", 10, {"GVNIC", "MRDMA"}),
        ("a4", 10, {"GVNIC", "MRDMA"}),
        ("a3-high-one-node", 1, {"GVNIC"}),
        ("g2", 1, {"GVNIC"}),
    ],
)
def test_a_gang_has_the_nics_that_its_machine_type_has_for_gpus(name, count, kinds):
    nics = properties_of(rendered(name))["networkInterfaces"]
    assert len(nics) == count
    assert {nic["nicType"] for nic in nics} == kinds
    assert [nic for nic in nics if "accessConfigs" in nic] == []


def test_gpus_of_a_gang_go_over_the_host_where_the_spec_says_so():
    request = render_claim(dataclasses.replace(CLAIMS["a4"], options={"gpudirect": False}))
    assert len(properties_of(request)["networkInterfaces"]) == 1
    assert "gpudirect" not in script_of(request)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("a3-mega", "STANDARD"),
        ("a3-high", "SPOT"),
        ("a2-flex-start", "FLEX_START"),
        ("a4-reservation", "RESERVATION_BOUND"),
        ("reservation", "STANDARD"),
    ],
)
def test_machines_are_bought_as_the_offer_says_and_end_by_themselves(name, model):
    assert properties_of(rendered(name))["scheduling"] == {
        "provisioningModel": model,
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": "86400"},
        "automaticRestart": False,
        "onHostMaintenance": "TERMINATE",
    }


def test_flex_start_is_a_group_of_none_that_is_to_grow_by_the_whole_gang():
    made = bodies(rendered("a2-flex-start"))
    assert list(made) == ["instanceTemplates", "instanceGroupManagers", "resizeRequests"]
    assert made["instanceGroupManagers"]["targetSize"] == 0
    names = [one["name"] for one in made["resizeRequests"]["instances"]]
    assert names == ["w-train-1-0-0", "w-train-1-0-1"]


@pytest.mark.parametrize(("hours", "seconds"), [(0.01, "600"), (400, "604800")])
def test_flex_start_keeps_to_googles_limits_of_run_time(hours, seconds):
    claim = rented_claim("us-central1-a/a2-highgpu-1g/flex-start", hours=hours)
    made = bodies(render_claim(claim))
    assert made["resizeRequests"]["requestedRunDuration"] == {"seconds": seconds}


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("a3-high", {"groupPlacementPolicy": {"collocation": "COLLOCATED"}}),
        ("a4-flex-start", {"workloadPolicy": {"type": "HIGH_THROUGHPUT"}}),
        ("a2-flex-start", None),
        ("a3-high-one-node", None),
        ("reservation", None),
        ("cpu", None),
    ],
)
def test_machines_of_a_gpu_gang_are_placed_close_together(name, policy):
    body = bodies(rendered(name)).get("resourcePolicies")
    found = body and {key: one for key, one in body.items() if key.endswith("Policy")}
    assert found == policy
    assert body is None or "windlass=true" in body["description"]


@pytest.mark.parametrize(
    ("options", "used"),
    [({"compact": False}, None), ({"placement_policy": "close"}, ["close"])],
    ids=["anywhere", "one that is there"],
)
def test_a_spec_may_say_how_machines_are_placed(options, used):
    request = render_claim(dataclasses.replace(CLAIMS["a3-high"], options=options))
    assert "resourcePolicies" not in bodies(request)
    assert properties_of(request).get("resourcePolicies") == used


@pytest.mark.parametrize(
    ("name", "disk", "image"),
    [
        ("a3-high", "pd-balanced", "family/ubuntu-accelerator-2404-amd64-with-nvidia-580"),
        ("a3-ultra", "hyperdisk-balanced", "family/ubuntu-accelerator-2404-amd64-with-nvidia-580"),
        ("a4", "hyperdisk-balanced", "family/ubuntu-accelerator-2404-amd64-with-nvidia-580"),
        ("n1-v100", "pd-balanced", "family/common-cu129-ubuntu-2404-nvidia-580"),
        ("cpu", "pd-balanced", "family/debian-12"),
    ],
)
def test_machines_boot_from_what_their_type_and_accelerator_need(name, disk, image):
    boot = properties_of(rendered(name))["disks"][0]["initializeParams"]
    assert boot["diskType"] == disk
    assert boot["sourceImage"].endswith(image)
    assert boot["labels"] == properties_of(rendered(name))["labels"]


@pytest.mark.parametrize(
    ("name", "is_secure"), [("cpu", True), ("g2", False)], ids=["cpu", "unsigned driver"]
)
def test_machines_are_shielded_and_log_in_through_os_login(name, is_secure):
    found = properties_of(rendered(name))
    assert found["shieldedInstanceConfig"] == {
        "enableSecureBoot": is_secure,
        "enableVtpm": True,
        "enableIntegrityMonitoring": True,
    }
    assert {"key": "enable-oslogin", "value": "TRUE"} in found["metadata"]["items"]


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (rented_claim("us-central1-a/v5e-16/spot", nodes=4), "names no machine type"),
        (rented_claim(""), "names no machine type to rent (nothing)"),
        (rented_claim("us-central1-b/a4-highgpu-8g/calendar"), "through its reservation"),
        (
            rented_claim("us-central1-a/a3-highgpu-8g/spot", options={"local_ssds": 2}),
            "of local SSD already",
        ),
        (rented_claim("us-central1-a/g2-standard-8/spot", options={"zone": "a"}), "no option"),
        (rented_claim("us-central1-a/g2-standard-8/spot", options={"disk_gb": "9"}), "is '9'"),
    ],
    ids=["a slice", "no offer", "calendar", "local SSD", "unknown option", "option's type"],
)
def test_what_makes_no_sense_is_refused(claim, why):
    with pytest.raises(EngineRejected) as refused:
        render_claim(claim)
    assert why in refused.value.message


def test_nodes_are_told_where_secrets_are_and_no_value(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "the-value-itself")
    claim = rented_claim("us-central1-a/g2-standard-8/spot", secrets={"TOKEN": "HF_TOKEN"})
    text = str(render_claim(claim))
    assert '"TOKEN": "projects/lab/secrets/HF_TOKEN/versions/latest"' in text
    assert "the-value-itself" not in text
