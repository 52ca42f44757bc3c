from __future__ import annotations

from typing import Any

import pytest

from doors import COMPUTE, PROJECT, ZONE, House
from windlass.twin.access.acting import named

SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def start_as(house: House, account: str, *, token: str, name: str = "one") -> tuple[int, Any]:
    return house.insert_vm(
        name, token=token, serviceAccounts=[{"email": account, "scopes": SCOPES}]
    )


def test_who_may_not_act_as_an_account_starts_nothing_as_it() -> None:
    house = House()
    target, robot = house.robot("target-1"), house.robot()
    house.grant(robot, "roles/compute.admin")
    token = house.token_of(robot)
    status, document = start_as(house, target, token=token)
    assert status == 400
    error = document["error"]
    assert error["errors"][0]["reason"] == "serviceAccountAccessDenied"
    assert f"'{target}'. User: '{robot}'." in error["message"]
    assert house.ask("GET", COMPUTE, f"{ZONE}/instances/one")[0] == 404
    place = f"projects/{PROJECT}/serviceAccounts/{target}"
    house.grant(robot, "roles/iam.serviceAccountUser", place=place)
    assert start_as(house, target, token=token)[0] == 200
    assert start_as(house, "default", token=token, name="two")[0] == 400


def test_account_that_does_not_exist_is_refused_to_everybody() -> None:
    house = House()
    owner = house.token_of(house.cloud.settings.account)
    for account in ("no-such@example.com", house.cloud.settings.account):
        status, document = start_as(house, account, token=owner)
        assert status == 400
        assert "of type 'serviceAccount' was not found" in document["error"]["message"]


def test_owner_and_editor_act_as_every_account() -> None:
    house = House()
    target, robot = house.robot("target-1"), house.robot()
    house.grant(robot, "roles/editor")
    owner = house.token_of(house.cloud.settings.account)
    assert start_as(house, target, token=house.token_of(robot))[0] == 200
    assert start_as(house, "default", token=owner, name="two")[0] == 200


def test_template_is_no_way_round() -> None:
    house = House()
    target, robot = house.robot("target-1"), house.robot()
    house.grant(robot, "roles/compute.admin")
    properties = {"machineType": "e2-small", "serviceAccounts": [{"email": target}]}
    path = f"/compute/v1/projects/{PROJECT}/global/instanceTemplates"
    body = {"name": "tmpl", "properties": properties}
    assert house.ask("POST", COMPUTE, path, body, token=house.token_of(robot))[0] == 400


BODIES: dict[str, tuple[Any, list[str]]] = {
    "an instance": ({"serviceAccounts": [{"email": "a"}, {"email": "b"}]}, ["a", "b"]),
    "a bulk": ({"instanceProperties": {"serviceAccounts": [{"email": "a"}]}}, ["a"]),
    "a TPU": ({"serviceAccount": {"email": "a", "scope": ["x"]}}, ["a"]),
    "a queued TPU": ({"tpu": {"nodeSpec": [{"node": {"serviceAccount": {"email": "a"}}}]}}, ["a"]),
    "a custom run": ({"jobSpec": {"serviceAccount": "a"}}, ["a"]),
    "a change of it": ({"email": "a", "scopes": []}, ["a"]),
    "none": ({"name": "x", "serviceAccounts": [], "serviceAccount": ""}, []),
}


@pytest.mark.parametrize("name", BODIES)
def test_accounts_are_found_wherever_they_are_named(name: str) -> None:
    body, expected = BODIES[name]
    assert list(named(body)) == expected
