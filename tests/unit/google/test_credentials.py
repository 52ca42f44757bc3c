"""Tokens: what becomes of a run when there is none to be had, for a moment or for good."""

from __future__ import annotations

import json

import httpx
import pytest

from windlass.errors import CredentialsMissing, EngineTransient
from windlass.google.access import Access
from windlass.google.credentials import AmbientBearer

LOGIN = {
    "type": "authorized_user",
    "client_id": "c",
    "client_secret": "s",
    "refresh_token": "r",
}


@pytest.fixture(autouse=True)
def _login(tmp_path, monkeypatch):
    (tmp_path / "adc.json").write_text(json.dumps(LOGIN))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "adc.json"))


def bearer(answer) -> AmbientBearer:
    def said(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return AmbientBearer(httpx.Client(transport=httpx.MockTransport(said)))


def test_a_network_that_is_away_is_no_refusal():
    with pytest.raises(EngineTransient):
        bearer(httpx.ConnectError("Connection refused")).token()


def test_a_login_that_is_no_longer_accepted_is_told_with_its_remedy():
    refused = httpx.Response(400, json={"error": "invalid_grant"})
    with pytest.raises(CredentialsMissing) as caught:
        bearer(refused).token()
    assert "login" in caught.value.remedy


def test_folders_take_it_as_a_line_that_is_cut():
    access = Access()
    access._bearer = bearer(httpx.ConnectError("Connection refused"))
    with pytest.raises(ConnectionError):
        access._token(False)
