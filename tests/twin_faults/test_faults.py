"""Faults of quota, capacity and machines, met over a real port, with Google's own words.

Where the words were seen is in docs/concepts/twin-errors.md, a row for each test here.
"""

from __future__ import annotations

import time

import pytest

from faulty_twin import IMAGE, PROJECT, FaultyTwin, needs_gcloud

ZONE = f"{PROJECT}/zones/us-central1-a"
SPOT = {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"}
QUEUE = "/v2/projects/twin-project/locations/us-west4-a/queuedResources"
TPU = {"Host": "tpu.googleapis.com"}


# --- quota


@pytest.mark.parametrize(
    ("metric", "where", "machine", "metric_name", "place"),
    [
        (
            "NVIDIA_L4_GPUS",
            "us-central1",
            "g2-standard-4",
            "nvidia_l4_gpus",
            "in region us-central1",
        ),
        ("GPUS_ALL_REGIONS", "global", "g2-standard-4", "gpus_all_regions", "globally"),
        (
            "GPUS_PER_GPU_FAMILY:NVIDIA_H100",
            "us-central1",
            "a3-highgpu-8g",
            "gpus_per_gpu_family",
            "in region us-central1",
        ),
    ],
    ids=["regional", "global", "of-a-gpu-family"],
)
def test_quota(twin, metric, where, machine, metric_name, place):
    twin.fault(quota=metric, where=where, limit=0)
    answer = twin.insert("quota-vm", machine=machine)
    operation = answer.document
    assert (answer.status, operation["status"]) == (200, "DONE")
    assert operation["httpErrorStatusCode"] == 403
    assert operation["httpErrorMessage"] == "FORBIDDEN"
    cause, name = answer.cause, metric.partition(":")[0]
    assert cause["code"] == "QUOTA_EXCEEDED"
    assert cause["message"] == f"Quota '{name}' exceeded.  Limit: 0.0 {place}."
    info = cause["errorDetails"][0]["quotaInfo"]
    assert info["metricName"] == f"compute.googleapis.com/{metric_name}"
    assert info["limit"] == 0
    assert ("gpu_family" in info["dimensions"]) == (":" in metric)
    assert twin.get("quota-vm").status == 404


@needs_gcloud
def test_gcloud_explains_a_quota(twin):
    twin.fault(quota="NVIDIA_L4_GPUS", where="us-central1", limit=1)
    said = twin.gcloud(
        "compute", "instances", "create", "many", "--zone=us-central1-a",
        "--machine-type=g2-standard-24", "--image-family=debian-12", "--image-project=debian-cloud",
    )  # fmt: skip
    assert said.returncode == 1
    assert "Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 1.0 in region us-central1." in said.stderr
    assert "metric name = compute.googleapis.com/nvidia_l4_gpus" in said.stderr


# --- capacity


def test_stockout_in_one_zone_then_success_in_another(twin):
    twin.fault(stockout="L4", zone="us-central1-a", **{"for": "2h"})
    answer = twin.insert("short")
    operation = answer.document
    assert (operation["status"], operation["httpErrorStatusCode"]) == ("DONE", 503)
    assert operation["httpErrorMessage"] == "SERVICE UNAVAILABLE"
    cause = answer.cause
    assert cause["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert cause["message"] == (
        "The zone 'projects/twin-project/zones/us-central1-a' does not have enough resources "
        "available to fulfill the request.  '(resource type:compute)'."
    )
    help_, localized, info = cause["errorDetails"]
    assert help_["help"]["links"][0]["url"].endswith("/compute/docs/resource-error")
    assert localized["localizedMessage"]["message"].startswith(
        "A g2-standard-4 VM instance with 1 nvidia-l4 accelerator(s) is currently unavailable in "
        "the us-central1-a zone. Consider trying your request in the us-central1-b"
    )
    assert info["errorInfo"]["reason"] == "resource_availability"
    assert info["errorInfo"]["metadatas"]["vmType"] == "g2-standard-4"
    assert info["errorInfo"]["metadatas"]["attachment"] == "nvidia-l4:1"
    assert twin.get("short").status == 404
    assert "error" not in twin.insert("short", zone="us-central1-b").document
    assert twin.get("short", zone="us-central1-b").document["status"] == "RUNNING"


def test_a_stockout_leaves_what_runs_alone(twin):
    twin.insert("before", scheduling=SPOT)
    twin.fault(stockout="L4", zone="us-central1", **{"for": "2h"})
    time.sleep(0.2)
    assert twin.get("before").document["status"] == "RUNNING"


@needs_gcloud
def test_gcloud_explains_a_stockout(twin):
    twin.fault(stockout="L4", zone="us-central1-a", **{"for": "2h"})
    said = twin.gcloud(
        "compute", "instances", "create", "none", "--zone=us-central1-a",
        "--machine-type=g2-standard-4", "--image-family=debian-12", "--image-project=debian-cloud",
    )  # fmt: skip
    assert said.returncode == 1
    assert "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS" in said.stderr
    assert "does not have enough resources" in " ".join(said.stderr.split())


def bulk(twin: FaultyTwin, pattern: str, **more):
    body = {
        "namePattern": pattern,
        "instanceProperties": {
            "machineType": "g2-standard-8",
            "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "scheduling": SPOT,
        },
        **more,
    }
    return twin.ask("POST", f"{ZONE}/instances/bulkInsert", body)


def test_partial_bulk_insert(tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("capacity: [{zone: us-central1-a, what: g2-standard-8, room: 2}]\n")
    twin = FaultyTwin.start(tmp_path, live=0, scenario=str(scenario))
    try:
        operation = bulk(twin, "some-#", count="3", minCount="1").document
        status = operation["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
        found = status["zones/us-central1-a"]
        assert (found["targetVmCount"], found["createdVmCount"]) == (3, 2)
        assert (found["failedToCreateVmCount"], found["status"]) == (1, "DONE")
        assert "error" not in operation
        refused = bulk(twin, "more-#", count="2", minCount="2")
        assert refused.document["httpErrorStatusCode"] == 503
        assert refused.cause == {
            "code": "VM_MIN_COUNT_NOT_REACHED",
            "message": "Requested minimum count of 2 VMs could not be created.",
        }
        why = refused.document["error"]["errors"][1]["code"]
        assert why == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
        names = [one["name"] for one in twin.ask("GET", f"{ZONE}/instances").document["items"]]
        assert names == ["some-1", "some-2"]
    finally:
        twin.stop()


# --- machines


def test_preemption_with_30_seconds_notice(twin):
    twin.insert("spot-vm", scheduling=SPOT)
    twin.until("spot-vm", "RUNNING")
    began = twin.ask("GET", "/twin/v1/status").document["time"]
    assert twin.fault(preempt="spot-vm").document["outcome"] == "warned spot-vm"
    assert twin.get("spot-vm").document["status"] == "STOPPING"
    twin.until("spot-vm", "TERMINATED")
    ended = twin.ask("GET", "/twin/v1/status").document["time"]
    assert 30 <= ended - began <= 60
    refused = twin.ask("POST", "/twin/v1/faults", {"preempt": "nobody"})
    assert refused.error["message"] == "No machine that runs is called 'nobody'."


def test_a_machine_that_is_not_spot_is_not_preempted(twin):
    twin.insert("kept")
    twin.until("kept", "RUNNING")
    refused = twin.ask("POST", "/twin/v1/faults", {"preempt": "kept"})
    assert (refused.status, "not a spot machine" in refused.error["message"]) == (400, True)


def test_maintenance_event(twin):
    twin.insert("gpu-vm", scheduling={"onHostMaintenance": "TERMINATE", "automaticRestart": False})
    twin.until("gpu-vm", "RUNNING")
    twin.fault(maintenance="gpu-vm", notice="60s")
    upcoming = twin.get("gpu-vm").document["resourceStatus"]["upcomingMaintenance"]
    assert (upcoming["type"], upcoming["maintenanceStatus"]) == ("SCHEDULED", "PENDING")
    twin.until("gpu-vm", "TERMINATED")


def test_host_failure_restarts_the_instance(twin):
    twin.insert("unlucky", scheduling={"automaticRestart": True})
    first = twin.until("unlucky", "RUNNING")["lastStartTimestamp"]
    twin.fault(fail="unlucky")
    assert twin.until("unlucky", "RUNNING")["lastStartTimestamp"] > first


# --- queues


def test_queued_resource_that_expires(twin):
    twin.fault(stockout="v5litepod-8", zone="us-west4-a", **{"for": "2h"})
    node = {
        "acceleratorType": "v5litepod-8",
        "runtimeVersion": "v2-alpha-tpuv5-lite",
        "networkConfig": {"network": "default"},
    }
    spec = {"parent": "projects/twin-project/locations/us-west4-a", "nodeId": "n", "node": node}
    body = {
        "tpu": {"nodeSpec": [spec]},
        "spot": {},
        "queueingPolicy": {"validUntilDuration": "60s"},
    }
    answer = twin.ask("POST", f"{QUEUE}?queuedResourceId=late", body, TPU)
    assert answer.status == 200, answer.content
    first = twin.ask("GET", f"{QUEUE}/late", headers=TPU).document["state"]["state"]
    assert first == "WAITING_FOR_RESOURCES"
    deadline = time.monotonic() + 15
    while (state := twin.ask("GET", f"{QUEUE}/late", headers=TPU).document["state"])[
        "state"
    ] != "FAILED":
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    assert "expired" in state["failedData"]["error"]["message"]


def test_mig_resize_request_that_fails(twin):
    template = {
        "name": "tmpl",
        "properties": {
            "machineType": "g2-standard-4",
            "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "scheduling": {"provisioningModel": "FLEX_START", "onHostMaintenance": "TERMINATE"},
        },
    }
    twin.ask("POST", f"{PROJECT}/global/instanceTemplates", template)
    group = {"name": "mig", "instanceTemplate": "global/instanceTemplates/tmpl", "targetSize": 0}
    made = twin.ask("POST", f"{ZONE}/instanceGroupManagers", group)
    assert made.status == 200, made.content
    twin.fault(stockout="L4", zone="us-central1-a", **{"for": "2h"})
    requests = f"{ZONE}/instanceGroupManagers/mig/resizeRequests"
    body = {"name": "grow", "resizeBy": 2, "requestedRunDuration": {"seconds": "3600"}}
    assert twin.ask("POST", requests, body).status == 200
    waiting = twin.ask("GET", f"{requests}/grow").document
    assert waiting["state"] == "ACCEPTED"
    error = waiting["status"]["lastAttempt"]["error"]["errors"][0]
    assert error["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert error["message"].startswith("Waiting for resources. Currently there are not enough")
    twin.fault(fail_resize="grow")
    failed = twin.ask("GET", f"{requests}/grow").document
    assert (failed["state"], failed["status"]["error"]["errors"][0]["code"]) == (
        "FAILED",
        "INTERNAL_ERROR",
    )
