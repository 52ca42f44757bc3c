from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from doors import IAM, PROJECT, House, jwt
from windlass.twin.journal import SqliteJournal

ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"


def test_key_opens_the_twin_and_only_its_public_half_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    journal = SqliteJournal(path)
    house = House(journal=journal)
    email = house.robot()
    made = house.good("POST", IAM, f"{ACCOUNTS}/{email}/keys", {})
    document = json.loads(base64.b64decode(made["privateKeyData"]))
    key = serialization.load_pem_private_key(document["private_key"].encode(), None)
    header = {"alg": "RS256", "kid": document["private_key_id"]}
    token = jwt(key, header, {"iss": document["client_email"]})  # type: ignore[arg-type]  # is RSA
    assert house.twin.tokens.principal(token) == email
    minted = house.token_of(email)
    house.cloud.commit()
    journal.close()
    kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert b"BEGIN PUBLIC KEY" in kept
    for secret in (b"PRIVATE KEY", minted.encode(), b"twin-the-token-of-this-home"):
        assert secret not in kept


def test_deleted_key_opens_nothing_and_cannot_be_deleted_twice() -> None:
    house = House()
    email = house.robot()
    house.twin.accounts.add_key(email, key_id="k", public_pem="")
    listed = house.good("GET", IAM, f"{ACCOUNTS}/{email}/keys")["keys"]
    assert [one["name"].rpartition("/")[2] for one in listed] == ["k"]
    assert house.good("DELETE", IAM, f"{ACCOUNTS}/{email}/keys/k") == {}
    assert house.ask("DELETE", IAM, f"{ACCOUNTS}/{email}/keys/k")[0] == 404
    assert house.good("GET", IAM, f"{ACCOUNTS}/{email}/keys") == {"keys": []}


def test_account_is_found_by_address_and_by_number_in_this_project_only() -> None:
    house = House()
    email = house.robot()
    number = house.good("GET", IAM, f"{ACCOUNTS}/{email}")["uniqueId"]
    assert house.good("GET", IAM, f"{ACCOUNTS}/{number}")["email"] == email
    assert house.good("GET", IAM, f"/v1/projects/-/serviceAccounts/{email}")["email"] == email
    assert house.ask("GET", IAM, f"/v1/projects/other/serviceAccounts/{email}")[0] == 404


@pytest.mark.parametrize("name", ["", "short", "Upper-case", "a" * 31, "-abcdef", "../../etc"])
def test_account_needs_a_proper_name(name: str) -> None:
    assert House().ask("POST", IAM, ACCOUNTS, {"accountId": name})[0] == 400


def test_same_name_twice_is_refused() -> None:
    house = House()
    house.robot("same-1")
    status, document = house.ask("POST", IAM, ACCOUNTS, {"accountId": "same-1"})
    assert (status, document["error"]["status"]) == (409, "ALREADY_EXISTS")


def test_grants_of_a_deleted_account_do_not_come_back_with_its_name() -> None:
    house = House()
    email = house.robot()
    place = f"projects/{PROJECT}/serviceAccounts/{email}"
    house.grant("friend@example.com", "roles/iam.serviceAccountTokenCreator", place=place)
    house.good("DELETE", IAM, f"{ACCOUNTS}/{email}")
    house.robot()
    assert house.twin.policies.get(place)["bindings"] == []
