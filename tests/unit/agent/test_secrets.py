"""Secrets that a node reads for itself: asked for patiently, refused plainly, never repeated."""

from __future__ import annotations

import base64
import io
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from email.message import Message

import pytest

from windlass.agent import secrets
from windlass.agent.secrets import SecretRefused, fetch

REFERENCE = "projects/lab/secrets/HF/versions/latest"
VALUE = "hf-very-secret"


def payload(value: bytes) -> bytes:
    return json.dumps({"payload": {"data": base64.b64encode(value).decode()}}).encode()


class SecretManager:
    """Answers one after the other; numbers are statuses."""

    def __init__(self) -> None:
        self.answers: list[bytes | int | Exception] = []
        self.asked: list[urllib.request.Request] = []

    def open(self, request: urllib.request.Request, timeout: float) -> io.BytesIO:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            said = io.BytesIO(b'{"error": {"message": "It says no."}}')
            raise urllib.error.HTTPError(request.full_url, answer, "no", Message(), said)
        return io.BytesIO(answer)


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> SecretManager:
    found = SecretManager()
    monkeypatch.setattr(urllib.request, "urlopen", found.open)
    monkeypatch.setattr(secrets, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(secrets.MachineSource, "email", lambda _: "runs@lab.example")
    return found


def tokens() -> Callable[[bool], str]:
    fresh: Iterator[str] = iter(["first", "second", "third"])
    kept = [next(fresh)]

    def token(is_anew: bool) -> str:
        if is_anew:
            kept[0] = next(fresh)
        return kept[0]

    return token


def refused(manager: SecretManager, *answers: bytes | int | Exception) -> SecretRefused:
    manager.answers = list(answers)
    with pytest.raises(SecretRefused) as found:
        fetch({"TOKEN": REFERENCE}, tokens(), patience_s=0.05)
    return found.value


def test_a_value_is_what_secret_manager_has(manager):
    manager.answers = [payload(VALUE.encode()), payload("zwölf\n".encode())]
    found = fetch({"TOKEN": REFERENCE, "OTHER": REFERENCE}, tokens())
    assert found == {"TOKEN": VALUE, "OTHER": "zwölf\n"}
    assert manager.asked[0].full_url == (
        f"https://secretmanager.googleapis.com/v1/{REFERENCE}:access"
    )
    assert manager.asked[0].get_header("Authorization") == "Bearer first"


def test_a_secret_of_a_region_is_asked_for_there(manager):
    manager.answers = [payload(b"x")]
    fetch({"T": "projects/p/locations/europe-west4/secrets/s/versions/1"}, tokens())
    assert manager.asked[0].host == "secretmanager.europe-west4.rep.googleapis.com"


def test_what_passes_is_waited_for(manager):
    manager.answers = [503, 429, ConnectionResetError("gone"), payload(VALUE.encode())]
    assert fetch({"TOKEN": REFERENCE}, tokens()) == {"TOKEN": VALUE}


def test_what_does_not_pass_in_time_may_be_had_by_another_attempt(manager):
    problem = refused(manager, *[503] * 100)
    assert problem.is_passing and "503 It says no" in str(problem)


def test_a_token_that_is_refused_is_renewed_once(manager):
    manager.answers = [401, payload(VALUE.encode())]
    assert fetch({"TOKEN": REFERENCE}, tokens()) == {"TOKEN": VALUE}
    assert manager.asked[1].get_header("Authorization") == "Bearer second"
    assert not refused(manager, 401, 401).is_passing


def test_who_may_not_read_it_is_told_what_allows_it(manager):
    problem = refused(manager, 403)
    assert not problem.is_passing
    assert "add-iam-policy-binding projects/lab/secrets/HF " in str(problem)
    assert "--member=serviceAccount:runs@lab.example" in str(problem)


@pytest.mark.parametrize("body", [payload(b"a\0b"), payload(b"\xff\xfe"), b"{}", b"no json"])
def test_what_an_environment_cannot_hold_is_refused_without_being_repeated(manager, body):
    problem = refused(manager, body)
    assert not problem.is_passing
    assert "TOKEN" in str(problem) and "a" + "\0" not in repr(problem.__context__)
    assert problem.__cause__ is None and problem.__suppress_context__
