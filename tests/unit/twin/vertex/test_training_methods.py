"""The API of CustomJobs refuses, lists and deletes as Google's does."""

from __future__ import annotations

import pytest

from trainings import HOST, PARENT, Stand, one_replica, pool
from windlass.twin.market import Model


@pytest.fixture
def stand():
    return Stand()


def spec_with(**more):
    return {"workerPoolSpecs": [{**pool(), **more}]}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({}, "job_spec.worker_pool_specs"),
        ({"workerPoolSpecs": [pool("a9-nothing-1")]}, "machine_spec.machine_type"),
        ({"workerPoolSpecs": [pool(replicas=2)]}, "worker_pool_specs[0].replica_count"),
        (spec_with(containerSpec=None), "worker_pool_specs[0].task"),
        (spec_with(containerSpec={"command": ["true"]}), "container_spec.image_uri"),
        (
            {"workerPoolSpecs": [pool("g2-standard-8", acceleratorType="NVIDIA_TESLA_T4")]},
            "machine_spec.accelerator_type",
        ),
        (
            {"workerPoolSpecs": [pool("e2-standard-4", acceleratorType="NVIDIA_TESLA_T4")]},
            "machine_spec.accelerator_type",
        ),
        ({"workerPoolSpecs": [pool()] * 5}, "job_spec.worker_pool_specs"),
    ],
)
def test_a_wrong_spec_is_refused_by_field(stand, spec, field):
    status, answer = stand.ask(
        "POST", f"{PARENT}/customJobs", {"displayName": "x", "jobSpec": spec}
    )
    assert status == 400
    assert answer["error"]["status"] == "INVALID_ARGUMENT"
    assert field in answer["error"]["message"]
    assert answer["error"]["message"].startswith("List of found errors:\t1.Field: ")


def test_a_name_to_show_is_required(stand):
    status, answer = stand.ask("POST", f"{PARENT}/customJobs", {"jobSpec": one_replica()})
    assert status == 400
    assert "Field: display_name; Message: Required field is not set." in answer["error"]["message"]


@pytest.mark.parametrize(
    ("machine", "strategy", "metric"),
    [
        ("g2-standard-8", "STANDARD", "custom_model_training_nvidia_l4_gpus"),
        ("g2-standard-8", "SPOT", "custom_model_training_preemptible_nvidia_l4_gpus"),
        ("a3-highgpu-8g", "STANDARD", "custom_model_training_nvidia_h100_80gb_gpus"),
        ("n1-standard-8", "STANDARD", "custom_model_training_cpus"),
    ],
)
def test_too_many_machines_are_refused_at_once(stand, machine, strategy, metric):
    stand.quotas.set_limit("us-central1", metric, 8)
    spec = {
        "workerPoolSpecs": [pool(machine), pool(machine, 8)],
        "scheduling": {"strategy": strategy},
    }
    body = {"displayName": "x", "jobSpec": spec}
    status, answer = stand.ask("POST", f"{PARENT}/customJobs", body)
    assert status == 429
    assert answer["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert answer["error"]["message"] == (
        f"The following quota metrics exceed quota limits: aiplatform.googleapis.com/{metric}"
    )


def test_a_training_that_is_over_gives_its_quota_back(stand):
    stand.quotas.set_limit("us-central1", "custom_model_training_nvidia_l4_gpus", 1)
    spec = {"workerPoolSpecs": [pool("g2-standard-8")]}
    stand.create(spec)
    body = {"displayName": "x", "jobSpec": spec}
    assert stand.ask("POST", f"{PARENT}/customJobs", body)[0] == 429
    stand.later(61.0)
    assert stand.ask("POST", f"{PARENT}/customJobs", body)[0] == 200


@pytest.mark.parametrize(
    ("host", "region", "status"),
    [
        (HOST, "us-central1", 200),
        (HOST, "europe-west4", 400),
        (HOST, "nowhere-east1", 400),
        ("aiplatform.googleapis.com", "us-central1", 200),
        ("aiplatform.googleapis.com", "europe-west4", 400),
        ("127.0.0.1", "europe-west4", 200),
    ],
)
def test_a_host_serves_its_own_region(stand, host, region, status):
    path = PARENT.replace("us-central1", region)
    prefix = "/ai" if host == "127.0.0.1" else ""
    assert stand.ask("GET", f"{prefix}{path}/customJobs", host=host)[0] == status


def test_a_training_may_be_named_by_the_projects_number_or_id(stand):
    name = stand.create()
    assert name.startswith("projects/415926535897/locations/us-central1/customJobs/")
    by_id = name.replace("415926535897", "twin-project")
    assert stand.get(by_id)["name"] == name


def test_what_is_not_there_does_not_exist(stand):
    status, answer = stand.ask("GET", f"{PARENT}/customJobs/17")
    assert (status, answer["error"]["message"]) == (404, "The CustomJob does not exist.")


def test_lists_come_in_pages_the_newest_first(stand):
    names = []
    for _ in range(5):
        names.append(stand.create())
        stand.later(1.0)
    seen, token = [], ""
    while True:
        query = f"pageSize=2&pageToken={token}"
        _, answer = stand.ask("GET", f"{PARENT}/customJobs", query=query)
        seen += [one["name"] for one in answer["customJobs"]]
        token = answer.get("nextPageToken", "")
        if not token:
            break
    assert seen == names[::-1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('state="JOB_STATE_SUCCEEDED"', ["old"]),
        ('state="JOB_STATE_RUNNING" OR state="JOB_STATE_PENDING"', ["new"]),
        ('display_name="old"', ["old"]),
        ("labels.team=nlp", ["new"]),
        ('NOT display_name="old"', ["new"]),
        ('create_time>"2027-01-15T08:00:30Z"', ["new"]),
        ("labels.team:*", ["new"]),
    ],
)
def test_lists_are_filtered(stand, text, found):
    stand.create(displayName="old")
    stand.later(61.0)
    stand.create(displayName="new", labels={"team": "nlp"})
    stand.later(0.0)
    query = f"filter={text}".replace(" ", "%20").replace('"', "%22")
    _, answer = stand.ask("GET", f"{PARENT}/customJobs", query=query)
    assert [one["displayName"] for one in answer.get("customJobs", [])] == found


def test_only_one_that_is_over_can_be_deleted(stand):
    name = stand.create()
    status, answer = stand.ask("DELETE", f"/v1/{name}")
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")
    stand.later(61.0)
    status, operation = stand.ask("DELETE", f"/v1/{name}")
    assert operation["done"] is True
    assert operation["name"].rpartition("/")[2].isdecimal()
    assert stand.get(operation["name"]) == operation
    assert stand.ask("GET", f"/v1/{name}")[0] == 404


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ({}, Model.STANDARD),
        ({"strategy": "SPOT"}, Model.SPOT),
        ({"strategy": "FLEX_START"}, Model.FLEX_START),
    ],
)
def test_the_strategy_says_how_machines_are_bought(stand, more, model):
    stand.create(one_replica(**more))
    stand.later(0.0)
    assert [machine.wanted.model for machine in stand.fleet.all()] == [model]


def test_a_reservation_is_used_when_it_is_named(stand):
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": "k", "values": ["r"]}
    stand.create({"workerPoolSpecs": [pool("a3-highgpu-8g", reservationAffinity=affinity)]})
    stand.later(0.0)
    assert [machine.wanted.model for machine in stand.fleet.all()] == [Model.RESERVED]


def test_a_slice_of_tpus_is_as_many_machines_as_it_has_hosts(stand):
    stand.create({"workerPoolSpecs": [pool("ct5lp-hightpu-4t", tpuTopology="4x4")]})
    stand.later(0.0)
    kinds = [(one.wanted.chip, one.wanted.chips) for one in stand.fleet.all()]
    assert kinds == [("tpu-v5e", 4)] * 4


def test_the_newer_version_of_the_api_shows_the_same(stand):
    name = stand.create()
    _, answer = stand.ask("GET", f"/v1beta1/{name}")
    assert answer == stand.get(name)


@pytest.mark.parametrize(
    "collection",
    ["models", "endpoints", "persistentResources", "hyperparameterTuningJobs"],
)
def test_lists_of_what_a_twin_has_none_of_are_empty(stand, collection):
    assert stand.ask("GET", f"{PARENT}/{collection}") == (200, {})


def test_what_is_not_modelled_is_said_so(stand):
    status, answer = stand.ask("GET", f"{PARENT}/datasets")
    assert status == 501
    assert "aiplatform.projects.locations.datasets.list" in answer["error"]["message"]
