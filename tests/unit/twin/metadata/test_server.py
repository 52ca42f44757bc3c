from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from doors import COMPUTE, PROJECT, ZONE, House
from windlass.twin.messages import Bytes, Request, Response

V1 = "/computeMetadata/v1"
GOOGLE = {"metadata-flavor": "Google"}
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
CRM = "cloudresourcemanager.googleapis.com"


class Guest:
    """A program inside a machine."""

    def __init__(self, house: House, name: str = "one", **fields: Any) -> None:
        items = [{"key": key, "value": value} for key, value in fields.pop("metadata", {}).items()]
        account = {"email": "default", "scopes": SCOPES}
        fields = {"serviceAccounts": [account], "metadata": {"items": items}, **fields}
        status, document = house.insert_vm(name, **fields)
        assert status == 200, document
        self.house = house
        instance = house.twin.compute.instances.find(f"{PROJECT}/zones/us-central1-a/{name}")
        assert instance is not None
        self.machine = instance.machine

    def send(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> Response:
        path, _, query = path.partition("?")
        request = Request(
            method=method,
            host="metadata.google.internal",
            path=path,
            query=query,
            headers=GOOGLE if headers is None else headers,
            body=Bytes(body),
        )
        return self.house.twin.metadata.answer(self.machine, request)

    def read(self, path: str, *, status: int = 200) -> str:
        response = self.send(f"{V1}/{path}")
        assert isinstance(response.content, bytes)
        assert response.status == status, response.content
        return response.content.decode()


@pytest.fixture
def guest() -> Guest:
    return Guest(House(), metadata={"startup-script": "true", "my-Own_key": "x"})


VALUES = {
    "instance/name": "one",
    "instance/zone": "projects/415926535897/zones/us-central1-a",
    "instance/machine-type": "projects/415926535897/machineTypes/e2-small",
    "instance/preempted": "FALSE",
    "instance/maintenance-event": "NONE",
    "instance/attributes/startup-script": "true",
    "instance/attributes/my-Own_key": "x",
    "instance/service-accounts/default/scopes": f"{SCOPES[0]}\n",
    "instance/attributes/": "startup-script\nmy-Own_key\n",
    "instance/service-accounts/default/": "aliases\nemail\nscopes\n",
    "project/project-id": PROJECT,
    "project/numeric-project-id": "415926535897",
    "universe/universe-domain": "googleapis.com",
    "": "instance/\nproject/\nuniverse/\n",
}


@pytest.mark.parametrize("path", VALUES)
def test_value_is_what_google_says(guest: Guest, path: str) -> None:
    assert guest.read(path) == VALUES[path]


def test_everything_below_is_json_with_googles_names(guest: Guest) -> None:
    found = json.loads(guest.read("?recursive=true"))
    assert found["instance"]["machineType"].endswith("/e2-small")
    assert found["instance"]["attributes"]["my-Own_key"] == "x"
    account = found["instance"]["serviceAccounts"]["default"]
    assert sorted(account) == ["aliases", "email", "scopes"]
    assert found["project"]["projectId"] == PROJECT
    assert json.loads(guest.read("instance/preempted?alt=json")) == "FALSE"
    lines = guest.read("instance/attributes/?recursive=true&alt=text").splitlines()
    assert lines == ["startup-script true", "my-Own_key x"]


def test_folder_without_its_slash_is_redirected(guest: Guest) -> None:
    response = guest.send(f"{V1}/instance/attributes")
    assert response.status == 301
    assert dict(response.headers)["Location"] == f"{V1}/instance/attributes/"


STRANGE = {
    "no header": (f"{V1}/instance/name", {}, 403),
    "another flavour": (f"{V1}/instance/name", {"metadata-flavor": "Amazon"}, 403),
    "a proxy between": (f"{V1}/instance/name", {**GOOGLE, "x-forwarded-for": "1.2.3.4"}, 403),
    "a token through a proxy": (
        f"{V1}/instance/service-accounts/default/token",
        {**GOOGLE, "x-forwarded-for": "127.0.0.1"},
        403,
    ),
    "a token without header": (f"{V1}/instance/service-accounts/default/token", {}, 403),
    "an older version": ("/computeMetadata/v1beta1/instance/name", GOOGLE, 404),
    "a way up": (f"{V1}/instance/../project/project-id", GOOGLE, 404),
    "a hidden way up": (f"{V1}/instance/%2e%2e/project/project-id", GOOGLE, 404),
    "a file": ("/etc/passwd", GOOGLE, 404),
    "nothing": (f"{V1}/instance/no-such", GOOGLE, 404),
    "below a value": (f"{V1}/instance/name/more", GOOGLE, 404),
    "somebody else's account": (
        f"{V1}/instance/service-accounts/you@example.com/token",
        GOOGLE,
        404,
    ),
    "no number": (f"{V1}/instance/preempted?wait_for_change=true&timeout_sec=x", GOOGLE, 400),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_question_is_refused(guest: Guest, name: str) -> None:
    path, headers, status = STRANGE[name]
    response = guest.send(path, headers=headers)
    assert response.status == status
    assert dict(response.headers)["Metadata-Flavor"] == "Google"


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        "instance/attributes/startup-script",
        "instance/name",
        "project/attributes/ssh-keys",
        "instance/guest-attributes/key",
        "instance/guest-attributes/a/b/c",
        "instance/guest-attributes/../attributes/startup-script",
    ],
)
def test_machine_cannot_write_elsewhere(guest: Guest, method: str, path: str) -> None:
    before = guest.read("?recursive=true")
    response = guest.send(f"{V1}/{path}", method=method, body=b"evil")
    assert response.status in (403, 405)
    assert guest.read("?recursive=true") == before


def test_guest_attributes_are_the_instances_own() -> None:
    house = House()
    one, two = (
        Guest(house, name, metadata={"enable-guest-attributes": "TRUE"}) for name in ("one", "ones")
    )
    path = "instance/guest-attributes/bootstrap/state"
    assert one.send(f"{V1}/{path}", method="PUT", body=b"ready").status == 200
    assert one.read(path) == "ready"
    assert two.read(path, status=404) == "Not found.\n"
    query = "getGuestAttributes?queryPath=bootstrap/"
    shown = house.good("GET", COMPUTE, f"{ZONE}/instances/one/{query}")
    assert shown["queryValue"]["items"][0]["value"] == "ready"
    tricky = f"{V1}/instance/guest-attributes/{quote('../../ones', safe='')}/state"
    one.send(tricky, method="PUT", body=b"evil")
    assert two.read("instance/guest-attributes/", status=404) == "Not found.\n"
    assert one.send(f"{V1}/{path}", method="DELETE").status == 200
    one.read(path, status=404)


def test_guest_attributes_must_be_allowed(guest: Guest) -> None:
    path = f"{V1}/instance/guest-attributes/bootstrap/state"
    assert guest.send(path, method="PUT", body=b"x").status == 403
    assert guest.send(path).status == 403


def test_token_opens_the_twin_as_the_machines_account_until_it_is_over(guest: Guest) -> None:
    house = guest.house
    given = json.loads(guest.read("instance/service-accounts/default/token"))
    assert (given["token_type"], given["expires_in"]) == ("Bearer", 3599)
    account = house.cloud.settings.default_service_account
    assert house.twin.tokens.principal(given["access_token"]) == account
    assert house.ask("GET", CRM, f"/v1/projects/{PROJECT}", token=given["access_token"])[0] == 200
    admin = house.ask("GET", "127.0.0.1", "/twin/v1/status", token=given["access_token"])
    assert admin[0] == 403
    house.clock.at += 3599
    assert house.ask("GET", CRM, f"/v1/projects/{PROJECT}", token=given["access_token"])[0] == 401


def test_machine_without_an_account_gets_no_token() -> None:
    guest = Guest(House(), serviceAccounts=[])
    assert guest.read("instance/service-accounts/") == ""
    guest.read("instance/service-accounts/default/token", status=404)


def test_machine_of_a_deleted_account_gets_no_more_tokens() -> None:
    house = House()
    robot = house.robot()
    guest = Guest(house, serviceAccounts=[{"email": robot, "scopes": SCOPES}])
    guest.read(f"instance/service-accounts/{robot}/token")
    house.good("DELETE", "iam.googleapis.com", f"/v1/projects/-/serviceAccounts/{robot}")
    guest.read("instance/service-accounts/default/token", status=404)


def test_identity_is_for_the_audience_that_was_named(guest: Guest) -> None:
    path = "instance/service-accounts/default/identity?audience=https://me.example"
    claims = guest.read(path).split(".")[1]
    document = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert document["aud"] == "https://me.example"


def test_preemption_is_seen_inside() -> None:
    house = House()
    guest = Guest(house, scheduling={"provisioningModel": "SPOT"})
    machine = house.twin.fleet.get(guest.machine)
    assert machine is not None
    house.twin.fleet.preempt(machine)
    assert guest.read("instance/preempted") == "TRUE"


class Waiting:
    """Lets time pass while a call waits, and something happen then."""

    def __init__(self, house: House, *, at: float, act: Any) -> None:
        self._house = house
        self._at = at
        self._act = act
        self.rounds = 0

    def until(self, moment: float) -> None:
        self.rounds += 1
        before, self._house.clock.at = self._house.clock.at, moment
        if before < self._at <= moment:
            self._act()


def test_wait_ends_when_the_value_changes() -> None:
    house = House()
    guest = Guest(house, scheduling={"provisioningModel": "SPOT"})
    machine = house.twin.fleet.get(guest.machine)
    assert machine is not None
    start = house.clock.at
    house.cloud.waiting = Waiting(
        house, at=start + 5, act=lambda: house.twin.fleet.preempt(machine)
    )
    query = "?wait_for_change=true&timeout_sec=60"
    assert guest.read(f"instance/preempted{query}") == "TRUE"
    assert house.clock.at == pytest.approx(start + 5, abs=1.5)


def test_wait_ends_when_its_time_is_over_or_was_too_late() -> None:
    house = House()
    guest = Guest(house)
    start = house.clock.at
    house.cloud.waiting = Waiting(house, at=start - 1, act=None)
    assert guest.read("instance/preempted?wait_for_change=true&timeout_sec=7") == "FALSE"
    assert house.clock.at == pytest.approx(start + 7)
    response = guest.send(f"{V1}/instance/preempted")
    tag = dict(response.headers)["ETag"]
    now = house.clock.at
    other = "?wait_for_change=true&timeout_sec=9&last_etag=0"
    assert guest.read(f"instance/preempted{other}") == "FALSE"
    assert house.clock.at == now, "it had changed already"
    same = f"?wait_for_change=true&timeout_sec=9&last_etag={tag}"
    guest.read(f"instance/preempted{same}")
    assert house.clock.at == pytest.approx(now + 9)


def test_machine_that_is_gone_is_told_nothing(guest: Guest) -> None:
    guest.house.good("DELETE", COMPUTE, f"{ZONE}/instances/one")
    guest.house.pass_time(600)
    guest.read("instance/service-accounts/default/token", status=404)
    unknown = replace(Request(method="GET", host="m", path=f"{V1}/instance/name"), headers=GOOGLE)
    assert guest.house.twin.metadata.answer("no-such", unknown).status == 404
