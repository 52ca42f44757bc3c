from __future__ import annotations

import re
from typing import Any

import pytest

from doors import COMPUTE, IAM, PROJECT, ZONE, House

CRM = "cloudresourcemanager.googleapis.com"
CREDENTIALS = "iamcredentials.googleapis.com"
USAGE = "serviceusage.googleapis.com"
ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"


def asked(house: House, email: str, method: str, host: str, path: str, body: Any = None) -> int:
    return house.ask(method, host, path, body, token=house.token_of(email))[0]


CALLS = {
    "list instances": ("GET", COMPUTE, f"{ZONE}/instances", "roles/compute.viewer"),
    "all instances": (
        "GET",
        COMPUTE,
        f"/compute/v1/projects/{PROJECT}/aggregated/instances",
        "roles/viewer",
    ),
    "see the project": ("GET", CRM, f"/v1/projects/{PROJECT}", "roles/browser"),
    "list accounts": ("GET", IAM, ACCOUNTS, "roles/iam.serviceAccountAdmin"),
    "see APIs": ("GET", USAGE, f"/v1/projects/{PROJECT}/services", "roles/viewer"),
    "list TPUs": (
        "GET",
        "tpu.googleapis.com",
        f"/v2/projects/{PROJECT}/locations/us-central2-b/nodes",
        "roles/tpu.viewer",
    ),
    "list custom runs": (
        "GET",
        "us-central1-aiplatform.googleapis.com",
        f"/v1/projects/{PROJECT}/locations/us-central1/customJobs",
        "roles/aiplatform.viewer",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_account_may_what_its_role_allows_and_nothing_before(name: str) -> None:
    method, host, path, role = CALLS[name]
    house = House()
    robot = house.robot()
    assert asked(house, robot, method, host, path) == 403
    house.grant(robot, role)
    assert asked(house, robot, method, host, path) == 200


def test_refusal_of_compute_engine_names_permission_and_resource() -> None:
    house = House()
    robot = house.robot()
    token = house.token_of(robot)
    _, document = house.ask("GET", COMPUTE, f"{ZONE}/instances/one", token=token)
    message = document["error"]["message"]
    assert "'compute.instances.get'" in message
    assert f"projects/{PROJECT}/zones/us-central1-a/instances/one" in message


def test_refusal_of_the_others_names_them_in_a_detail() -> None:
    house = House()
    token = house.token_of(house.robot())
    _, document = house.ask("GET", IAM, ACCOUNTS, token=token)
    error = document["error"]
    assert error["status"] == "PERMISSION_DENIED"
    assert error["details"][0]["reason"] == "IAM_PERMISSION_DENIED"
    assert error["details"][0]["metadata"]["permission"] == "iam.serviceAccounts.list"


def test_instances_own_policy_may_allow_it() -> None:
    house = House()
    house.insert_vm("one")
    house.insert_vm("two")
    robot = house.robot()
    policy = {
        "bindings": [{"role": "roles/compute.viewer", "members": [f"serviceAccount:{robot}"]}]
    }
    house.good("POST", COMPUTE, f"{ZONE}/instances/one/setIamPolicy", {"policy": policy})
    assert asked(house, robot, "GET", COMPUTE, f"{ZONE}/instances/one") == 200
    assert asked(house, robot, "GET", COMPUTE, f"{ZONE}/instances/two") == 403


def test_anybody_may_ask_what_he_may() -> None:
    house = House()
    robot = house.robot()
    body = {"permissions": ["compute.instances.get", "compute.instances.delete"]}
    path = f"/v1/projects/{PROJECT}:testIamPermissions"
    token = house.token_of(robot)
    assert house.ask("POST", CRM, path, body, token=token) == (200, {})
    house.grant(robot, "roles/compute.viewer")
    assert house.ask("POST", CRM, path, body, token=token) == (
        200,
        {"permissions": ["compute.instances.get"]},
    )


def test_projects_are_listed_for_those_who_may_see_them() -> None:
    house = House()
    robot = house.robot()
    token = house.token_of(robot)
    assert house.ask("GET", CRM, "/v1/projects", token=token) == (200, {})
    house.grant(robot, "roles/viewer")
    assert house.ask("GET", CRM, "/v1/projects", token=token)[1]["projects"]


def test_other_projects_are_closed_but_for_googles_images() -> None:
    house = House()
    other = "/compute/v1/projects/somebody-else"
    assert house.ask("GET", COMPUTE, f"{other}/zones/us-central1-a/instances")[0] == 403
    assert house.ask("POST", COMPUTE, f"{other}/global/networks", {"name": "n"})[0] == 403
    images = "/compute/v1/projects/debian-cloud/global/images/family/debian-12"
    assert asked(house, house.robot(), "GET", COMPUTE, images) == 200


def test_api_that_is_off_is_named_with_the_way_to_turn_it_on() -> None:
    house = House()
    path = f"/v1/projects/{PROJECT}/services/compute.googleapis.com"
    house.good("POST", USAGE, f"{path}:disable", {})
    status, document = house.ask("GET", COMPUTE, f"{ZONE}/instances")
    assert status == 403
    detail = document["error"]["details"][0]
    assert (detail["reason"], detail["metadata"]["service"]) == (
        "SERVICE_DISABLED",
        "compute.googleapis.com",
    )
    house.good("POST", USAGE, f"{path}:enable", {})
    assert house.ask("GET", COMPUTE, f"{ZONE}/instances")[0] == 200


# ---- to be somebody else ---------------------------------------------------------------------


def impersonate(house: House, target: str, *, token: str, **body: Any) -> tuple[int, Any]:
    path = f"/v1/projects/-/serviceAccounts/{target}:generateAccessToken"
    return house.ask("POST", CREDENTIALS, path, {"scope": ["x"], **body}, token=token)


def test_nobody_becomes_an_account_without_being_its_token_creator() -> None:
    house = House()
    target, robot = house.robot("target-1"), house.robot()
    house.grant(robot, "roles/editor")
    assert impersonate(house, target, token=house.token_of(robot))[0] == 403
    owner = house.token_of(house.cloud.settings.account)
    assert impersonate(house, target, token=owner)[0] == 403


@pytest.mark.parametrize("place", ["project", "account"])
def test_token_creator_becomes_the_account_for_a_while(place: str) -> None:
    house = House()
    target, robot, other = house.robot("target-1"), house.robot(), house.robot("other-1")
    where = f"projects/{PROJECT}"
    if place == "account":
        where += f"/serviceAccounts/{target}"
    house.grant(robot, "roles/iam.serviceAccountTokenCreator", place=where)
    status, given = impersonate(house, target, token=house.token_of(robot), lifetime="600s")
    assert status == 200
    assert house.twin.tokens.principal(given["accessToken"]) == target
    assert re.fullmatch(r"[\d-]{10}T[\d:]{8}Z", given["expireTime"]), "google-auth reads no other"
    house.clock.at += 600
    assert house.twin.tokens.principal(given["accessToken"]) is None
    expected = 200 if place == "project" else 403
    assert impersonate(house, other, token=house.token_of(robot))[0] == expected


@pytest.mark.parametrize("lifetime", ["0s", "3601s", "99999999999999999999s", "soon", "-5s"])
def test_impersonation_does_not_outlast_an_hour(lifetime: str) -> None:
    house = House()
    target = house.robot("target-1")
    house.grant(target, "roles/iam.serviceAccountTokenCreator")
    token = house.token_of(target)
    assert impersonate(house, target, token=token, lifetime=lifetime)[0] == 400
