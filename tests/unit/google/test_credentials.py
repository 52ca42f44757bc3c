"""Who we are to Google: a login, or an account that it may act for; and what is wrong when not."""

from __future__ import annotations

import json

import google.auth
import httpx
import pytest
from google.oauth2.credentials import Credentials

from windlass.errors import CredentialsMissing, EngineTransient
from windlass.google import token as token_program
from windlass.google.credentials import AmbientBearer

ACCOUNT = "ci@lab.iam.gserviceaccount.com"
GRANTED = {"accessToken": "of-the-account", "expireTime": "2099-01-01T00:00:00Z"}
LOGIN = {"access_token": "of-the-login", "expires_in": 3600}


class Google:
    """The hosts that give tokens."""

    def __init__(self, *, login=(200, LOGIN), account=(200, GRANTED)):
        self.answers = {"oauth2.googleapis.com": login, "iamcredentials.googleapis.com": account}
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers[request.url.host]
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return httpx.Response(status, json=body)

    def bearer(self, **fields) -> AmbientBearer:
        return AmbientBearer(httpx.Client(transport=httpx.MockTransport(self)), **fields)


@pytest.fixture(autouse=True)
def login(monkeypatch):
    """Somebody is logged in, and bills a project of theirs."""
    found = Credentials(
        None,
        refresh_token="r",
        client_id="c",
        client_secret="s",
        token_uri="https://oauth2.googleapis.com/token",
        quota_project_id="payer",
    )
    monkeypatch.setattr(google.auth, "default", lambda **_: (found, "lab"))


def test_a_login_gives_a_token_and_keeps_it():
    google_ = Google()
    bearer = google_.bearer()
    assert [bearer.token(), bearer.token()] == ["of-the-login"] * 2
    assert len(google_.asked) == 1
    bearer.token(anew=True)
    assert len(google_.asked) == 2
    assert bearer.quota_project == "payer"
    assert bearer.member == "user:YOU"


def test_an_account_is_acted_for_with_the_logins_token():
    google_ = Google()
    bearer = google_.bearer(impersonate=ACCOUNT)
    assert bearer.token() == "of-the-account"
    assert bearer.member == f"serviceAccount:{ACCOUNT}"
    asked = google_.asked[-1]
    assert asked.url.path.endswith(f"{ACCOUNT}:generateAccessToken")
    assert asked.headers["authorization"] == "Bearer of-the-login"
    assert json.loads(asked.content)["scope"] == ["https://www.googleapis.com/auth/cloud-platform"]


def test_who_may_not_act_for_an_account_is_told_what_allows_it():
    refused = (403, {"error": {"code": 403, "message": "Permission denied"}})
    with pytest.raises(CredentialsMissing) as caught:
        Google(account=refused).bearer(impersonate=ACCOUNT).token()
    assert caught.value.message == f"{ACCOUNT} cannot be acted as: Permission denied"
    assert f"add-iam-policy-binding {ACCOUNT}" in caught.value.remedy
    assert "roles/iam.serviceAccountTokenCreator" in caught.value.remedy


def test_a_login_that_has_ended_is_to_be_renewed():
    ended = (400, {"error": "invalid_grant", "error_description": "Token has been revoked."})
    with pytest.raises(CredentialsMissing) as caught:
        Google(login=ended).bearer().token()
    assert "gcloud auth application-default login" in caught.value.remedy


@pytest.mark.parametrize(
    "trouble",
    [httpx.ConnectError("no network"), httpx.ReadTimeout("slow"), (503, {"error": "unavailable"})],
)
def test_what_passes_is_no_end_of_a_login(trouble, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)  # google-auth tries again by itself.
    with pytest.raises(EngineTransient):
        Google(login=trouble).bearer().token()


@pytest.mark.parametrize(
    ("contents", "said"),
    [(None, "was not found"), ("{", "is not a valid json file"), ('{"type": "x"}', "Type is x")],
)
def test_a_file_that_is_no_key_is_told(monkeypatch, tmp_path, contents, said):
    path = tmp_path / "key.json"
    if contents is not None:
        path.write_text(contents)
    monkeypatch.undo()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with pytest.raises(CredentialsMissing) as caught:
        Google().bearer().token()
    assert said in caught.value.message
    assert "GOOGLE_APPLICATION_CREDENTIALS" in caught.value.remedy


def test_nobody_is_told_to_log_in(monkeypatch, tmp_path):
    monkeypatch.undo()
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(CredentialsMissing, match="there are no credentials"):
        Google().bearer().token()


def test_the_program_for_agents_gives_the_accounts_token(monkeypatch, capsys):
    google_ = Google()
    monkeypatch.setattr("sys.argv", ["token", ACCOUNT])
    client = httpx.Client(transport=httpx.MockTransport(google_))
    monkeypatch.setattr(token_program.httpx, "Client", lambda: client)
    assert token_program.main() == 0
    assert json.loads(capsys.readouterr().out)["access_token"] == "of-the-account"
