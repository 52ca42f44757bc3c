"""What a project is asked before anything is rented: roles, APIs, quotas, buckets."""

from __future__ import annotations

import pytest

from doors import PROJECT, House
from houses import furnished, make_bucket, session_of
from windlass.errors import PermissionMissing
from windlass.google.projects import Projects
from windlass.google.quotas import COMPUTE, TPU, CloudQuotas
from windlass.google.services import Services
from windlass.google.session import Taken
from windlass.google.storage import Buckets


@pytest.fixture(scope="module")
def house() -> House:
    return House()


def test_a_project_that_is_not_the_callers_is_refused_as_google_refuses_it(house):
    assert Projects(session_of(house), PROJECT).get()["projectId"] == PROJECT
    with pytest.raises(PermissionMissing):
        Projects(session_of(house), "somebody-elses").get()


def test_only_what_is_granted_is_told():
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/compute.viewer")
    projects = Projects(session_of(house, token=house.token_of(robot)), PROJECT)
    wanted = ["compute.instances.list", "compute.instances.create"]
    assert projects.granted(wanted) == {"compute.instances.list"}


def test_more_permissions_than_one_call_takes_are_asked_for_in_several(house):
    wanted = [f"compute.things{number}.get" for number in range(250)]
    assert Projects(session_of(house), PROJECT).granted(wanted) == set(wanted)


def test_roles_come_with_those_who_have_them(house):
    editors = Projects(session_of(house), PROJECT).roles()["roles/editor"]
    assert any(member.endswith("-compute@developer.gserviceaccount.com") for member in editors)


def test_apis_that_are_off_are_not_among_those_that_are_on():
    house = House()
    house.twin.apis.set("tpu.googleapis.com", enabled=False)
    enabled = Services(session_of(house), PROJECT).enabled()
    assert "compute.googleapis.com" in enabled
    assert "tpu.googleapis.com" not in enabled


def test_limits_are_named_as_the_catalog_names_them():
    house = House()
    house.twin.quotas.set_limit("us-central1", "GPUS_PER_GPU_FAMILY:NVIDIA_H100", 16)
    house.twin.quotas.set_limit("us-east5-a", "TPUV6EPerProjectPerZoneForTPUAPI", 8)
    quotas = CloudQuotas(session_of(house), PROJECT)
    limits = {(one.place, one.metric): one.value for one in quotas.limits(COMPUTE)}
    assert limits["us-central1", "GPUS_PER_GPU_FAMILY:NVIDIA_H100"] == 16
    assert limits["us-east4", "GPUS_PER_GPU_FAMILY:NVIDIA_H100"] == 128
    assert limits["us-central1", "PREEMPTIBLE_NVIDIA_H100_GPUS"] == 128
    slices = {(one.place, one.metric): one.value for one in quotas.limits(TPU)}
    assert slices["us-east5-a", "TPUV6EPerProjectPerZoneForTPUAPI"] == 8


def test_a_bucket_is_listed_looked_at_and_deleted_when_it_is_empty(tmp_path):
    house = furnished(tmp_path)
    make_bucket(house, "ours-runs", location="us-east1")
    buckets = Buckets(session_of(house), PROJECT)
    assert [one["name"] for one in buckets.listed()] == ["ours-runs"]
    assert buckets.get("ours-runs")["location"] == "US-EAST1"
    path = "/upload/storage/v1/b/ours-runs/o?uploadType=media&name=a"
    house.send("POST", "storage.googleapis.com", path, b"x")
    with pytest.raises(Taken):
        buckets.delete("ours-runs")
    house.send("DELETE", "storage.googleapis.com", "/storage/v1/b/ours-runs/o/a")
    buckets.delete("ours-runs")
    buckets.delete("ours-runs")
    assert buckets.get("ours-runs") is None
