from __future__ import annotations

import pytest

from doors import PROJECT, TOKEN, House

HOST = "127.0.0.1"


def test_owner_asks_for_the_status() -> None:
    status, document = House().ask("GET", HOST, "/twin/v1/status")
    assert status == 200
    assert document["machines"] == {"live": 0, "modelled": 0}


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_token_but_the_owners_opens_it(method: str) -> None:
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/owner")
    tokens = [house.token_of(robot), house.token_of(house.cloud.settings.default_service_account)]
    for token in tokens:
        assert house.ask(method, HOST, "/twin/v1/status", token=token)[0] == 403
    assert house.ask(method, HOST, "/twin/v1/status", token=None)[0] == 401
    assert house.ask(method, HOST, "/twin/v1/status", token=TOKEN[:-1])[0] == 401


WRONG = {
    "an act that there is not": ("/twin/v1/nothing", b"{}", 404),
    "a walk out of it": ("/twin/v1/../v1/status", b"{}", 404),
    "no JSON": ("/twin/v1/status", b"{", 400),
    "JSON that is no object": ("/twin/v1/status", b"[1]", 400),
}


@pytest.mark.parametrize("name", WRONG)
def test_owner_is_told_what_is_wrong(name: str) -> None:
    path, body, status = WRONG[name]
    assert House().ask("POST", HOST, path, body)[0] == status


def test_robot_cannot_make_itself_a_machine_with_the_owners_identity() -> None:
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/compute.admin")
    account = {"email": house.cloud.settings.account, "scopes": ["cloud-platform"]}
    status, document = house.insert_vm(
        "sneaky", token=house.token_of(robot), serviceAccounts=[account]
    )
    assert status == 400, document
    assert house.ask("GET", "compute.googleapis.com", f"/compute/v1/projects/{PROJECT}")[0] == 200
