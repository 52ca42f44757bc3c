from __future__ import annotations

from collections.abc import Callable

import pytest

from doors import PROJECT, TOKEN, House, encoded, jwt, key_of, public_pem
from windlass.twin.tokens import REFRESH, bearer

CRM = "cloudresourcemanager.googleapis.com"
PATH = f"/v1/projects/{PROJECT}"
KID = "a" * 40


def is_let_in(house: House, token: str | None) -> bool:
    status, document = house.ask("GET", CRM, PATH, token=token)
    assert status in (200, 401), document
    return status == 200


STRANGERS = {
    "none": None,
    "empty": "",
    "wrong": "twin-something-else",
    "prefix of the right one": TOKEN[:-1],
    "right one with more": TOKEN + "x",
    "other letters": TOKEN.upper(),
    "not ascii": "tökén-\udcff".encode("utf-8", "replace").decode(),
    "three empty parts": "..",
    "three parts of rubbish": "a.b.c",
    "JSON that is no object": f"{encoded(b'[]')}.{encoded(b'1')}.{encoded(b'x')}",
}


@pytest.mark.parametrize("name", STRANGERS)
def test_stranger_is_told_401_and_nothing_else(name: str) -> None:
    response = House().send("GET", CRM, PATH, token=STRANGERS[name])
    assert response.status == 401
    assert dict(response.headers)["WWW-Authenticate"].startswith("Bearer")
    assert PROJECT.encode() not in bytes(response.content)  # type: ignore[arg-type]  # is bytes


def test_owner_is_let_in_by_header_and_by_query() -> None:
    house = House()
    assert is_let_in(house, TOKEN)
    assert house.ask("GET", CRM, f"{PATH}?access_token={TOKEN}", token=None)[0] == 200
    assert house.ask("GET", CRM, f"{PATH}?access_token=no", token=None)[0] == 401


def test_token_dies_when_its_time_is_over_even_before_it_is_forgotten() -> None:
    house = House()
    email = house.cloud.settings.default_service_account
    token = house.twin.tokens.mint(email, seconds=60)
    house.clock.at += 59
    assert is_let_in(house, token)
    house.clock.at += 1
    assert house.twin.tokens.principal(token) is None
    house.pass_time(1)
    assert len(house.twin.tokens._minted) == 0


def test_no_two_tokens_are_alike() -> None:
    tokens = House().twin.tokens
    minted = [tokens.mint("a@b.c") for _ in range(100)]
    assert len(set(minted)) == 100
    assert len({token[:20] for token in minted}) == 100


def test_refresh_token_opens_no_api() -> None:
    house = House()
    token = house.twin.tokens.mint(house.cloud.settings.account, opens=REFRESH)
    assert not is_let_in(house, token)
    assert house.twin.tokens.refreshed(token) == house.cloud.settings.account


def test_revoked_token_opens_nothing() -> None:
    house = House()
    token = house.token_of(house.cloud.settings.account)
    assert is_let_in(house, token)
    assert house.twin.tokens.revoke(token)
    assert not is_let_in(house, token)
    assert not house.twin.tokens.revoke(TOKEN)
    assert is_let_in(house, TOKEN)


def test_token_signed_by_an_accounts_own_key_is_that_accounts() -> None:
    house, email = _with_key()
    token = jwt(key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": email})
    assert house.twin.tokens.principal(token) == email


def _none_alg(email: str) -> str:
    return jwt(key_of("own"), {"alg": "none", "kid": KID}, {"iss": email})


def _unsigned(email: str) -> str:
    return jwt(key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": email}).rpartition(".")[0] + "."


def _hmac(email: str) -> str:
    return jwt(key_of("own"), {"alg": "HS256", "kid": KID}, {"iss": email})


def _other_key(email: str) -> str:
    return jwt(key_of("other"), {"alg": "RS256", "kid": KID}, {"iss": email})


def _other_kid(email: str) -> str:
    return jwt(key_of("own"), {"alg": "RS256", "kid": "b" * 40}, {"iss": email})


def _no_kid(email: str) -> str:
    return jwt(key_of("own"), {"alg": "RS256"}, {"iss": email})


def _other_account(email: str) -> str:
    return jwt(key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": "you@example.com"})


def _split_name(email: str) -> str:
    """The name of the key, cut elsewhere."""
    return jwt(key_of("own"), {"alg": "RS256", "kid": KID[1:]}, {"iss": f"{email}/a"})


def _changed(email: str) -> str:
    head, _, signature = jwt(
        key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": email, "sub": "x"}
    ).rpartition(".")
    return f"{head}x.{signature}"


FORGED: list[Callable[[str], str]] = [
    _none_alg,
    _unsigned,
    _hmac,
    _other_key,
    _other_kid,
    _no_kid,
    _other_account,
    _split_name,
    _changed,
]


@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_forged_token_is_nobodys(forge: Callable[[str], str]) -> None:
    house, email = _with_key()
    assert house.twin.tokens.principal(forge(email)) is None
    assert not is_let_in(house, forge(email))


def test_key_of_a_deleted_account_opens_nothing() -> None:
    house, email = _with_key()
    house.good("DELETE", "iam.googleapis.com", f"/v1/projects/-/serviceAccounts/{email}")
    token = jwt(key_of("own"), {"alg": "RS256", "kid": KID}, {"iss": email})
    assert house.twin.tokens.principal(token) is None


def _with_key() -> tuple[House, str]:
    house = House()
    email = house.robot()
    house.twin.accounts.add_key(email, key_id=KID, public_pem=public_pem(key_of("own")))
    return house, email


HEADERS = {
    "Bearer abc": "abc",
    "bearer  abc ": "abc",
    "OAuth abc": "abc",
    "Basic abc": None,
    "Bearer": None,
    "Bearer ": None,
    "abc": None,
    "": None,
}


@pytest.mark.parametrize("header", HEADERS)
def test_bearer_reads_what_clients_send(header: str) -> None:
    assert bearer(header) == HEADERS[header]
