from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import urlencode

import pytest

from doors import TOKEN, House, jwt, key_of, public_pem
from windlass.twin.messages import Request

HOST = "oauth2.googleapis.com"
KID = "c" * 40
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def asked(house: House, form: dict[str, str], path: str = "/token") -> tuple[int, Any]:
    response = house.send("POST", HOST, path, urlencode(form).encode(), token=None)
    assert isinstance(response.content, bytes)
    return response.status, json.loads(response.content)


def test_login_with_the_homes_token_gives_tokens_of_the_owner() -> None:
    house = House()
    status, given = asked(house, {"grant_type": "authorization_code", "code": TOKEN})
    assert status == 200
    assert house.twin.tokens.principal(given["access_token"]) == house.cloud.settings.account
    status, again = asked(
        house, {"grant_type": "refresh_token", "refresh_token": given["refresh_token"]}
    )
    assert status == 200
    assert house.twin.tokens.principal(again["access_token"]) == house.cloud.settings.account
    house.clock.at += 3600
    assert house.twin.tokens.principal(again["access_token"]) is None


FORMS: dict[str, dict[str, str]] = {
    "nothing": {},
    "a code that is not the home's token": {"grant_type": "authorization_code", "code": "x"},
    "an empty code": {"grant_type": "authorization_code", "code": ""},
    "no code": {"grant_type": "authorization_code"},
    "an unknown refresh token": {"grant_type": "refresh_token", "refresh_token": "1//x"},
    "an empty refresh token": {"grant_type": "refresh_token", "refresh_token": ""},
    "the home's token to be refreshed": {"grant_type": "refresh_token", "refresh_token": TOKEN},
    "an assertion of rubbish": {"grant_type": JWT_GRANT, "assertion": "a.b.c"},
    "no assertion": {"grant_type": JWT_GRANT},
    "a password": {"grant_type": "password", "username": "you@example.com", "password": TOKEN},
}


@pytest.mark.parametrize("name", FORMS)
def test_stranger_gets_no_token_for(name: str) -> None:
    house = House()
    status, document = asked(house, FORMS[name])
    assert (status, document["error"]) == (400, "invalid_grant")
    assert len(house.twin.tokens._minted) == 0


def test_access_token_cannot_be_made_to_last_longer() -> None:
    house = House()
    token = house.token_of(house.robot())
    assert asked(house, {"grant_type": "refresh_token", "refresh_token": token})[0] == 400


def test_assertion_of_an_account_gives_its_token_and_no_refresh_token() -> None:
    house = House()
    email = house.robot()
    house.twin.accounts.add_key(email, key_id=KID, public_pem=public_pem(key_of("own")))
    assertion = jwt(key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": email})
    status, given = asked(house, {"grant_type": JWT_GRANT, "assertion": assertion})
    assert status == 200
    assert house.twin.tokens.principal(given["access_token"]) == email
    assert "refresh_token" not in given


def test_token_info_tells_whose_a_token_is_and_nothing_of_others() -> None:
    house = House()
    path = "/tokeninfo"
    assert asked(house, {"access_token": TOKEN}, path)[1]["email"] == house.cloud.settings.account
    assert asked(house, {"access_token": "x"}, path) == (
        400,
        {"error": "invalid_token", "error_description": "Invalid Value"},
    )
    assert asked(house, {}, path)[0] == 400


def test_revoked_token_is_gone() -> None:
    house = House()
    token = house.token_of(house.robot())
    assert asked(house, {"token": token}, "/revoke") == (200, {})
    assert house.twin.tokens.principal(token) is None
    assert asked(house, {"token": token}, "/revoke")[0] == 400


class SlowBody:
    """A stranger who takes his time."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.may_go_on = threading.Event()

    def read(self, size: int = -1) -> bytes:
        self.is_asked.set()
        self.may_go_on.wait(timeout=10)
        return b""


def test_stranger_who_sends_slowly_keeps_nobody_waiting() -> None:
    house = House()
    body = SlowBody()
    request = Request(method="POST", host=HOST, path="/token", body=body)
    stranger = threading.Thread(target=house.twin.door.answer, args=(request,))
    stranger.start()
    try:
        assert body.is_asked.wait(timeout=10)
        assert house.cloud.lock.acquire(timeout=5)
        house.cloud.lock.release()
    finally:
        body.may_go_on.set()
        stranger.join()
