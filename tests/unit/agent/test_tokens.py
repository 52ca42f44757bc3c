"""Tokens on a node: asked for when they are needed, and before they are no longer good."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from windlass.agent import tokens
from windlass.agent.storage import BucketError
from windlass.agent.tokens import CommandSource, KeptToken, MachineSource, ambient_token
from windlass.twin.messages import Request, Response
from windlass.twin.server.listener import Server


class Metadata:
    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.answer = Response(content=b'{"access_token": "t1", "expires_in": 3599}')

    def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def metadata(monkeypatch) -> Iterator[Metadata]:
    said = Metadata()
    server = Server(said, log=io.StringIO())
    server.start()
    monkeypatch.setenv("GCE_METADATA_HOST", f"127.0.0.1:{server.port}")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    yield said
    server.stop()


def test_a_machine_asks_its_metadata_server_and_no_proxy(metadata: Metadata) -> None:
    token = ambient_token()
    assert [token(False), token(False)] == ["t1", "t1"]
    assert len(metadata.asked) == 1
    assert metadata.asked[0].headers["metadata-flavor"] == "Google"
    assert metadata.asked[0].path.endswith("/default/token")


def test_a_new_token_is_asked_for_when_the_last_was_refused(metadata: Metadata) -> None:
    token = KeptToken(MachineSource())
    token(False)
    metadata.answer = Response(content=b'{"access_token": "t2", "expires_in": 3599}')
    assert [token(False), token(True), token(False)] == ["t1", "t2", "t2"]


def test_a_token_that_is_about_to_end_is_not_used(metadata: Metadata, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(tokens.time, "monotonic", lambda: now[0])
    token = KeptToken(MachineSource())
    token(False)
    now[0] = 3599 - tokens.EARLY_S + 1
    token(False)
    assert len(metadata.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        Response(status=404, content=b"not found"),
        Response(content=b"not json"),
        Response(content=b"[]"),
        Response(content=b"{}"),
        Response(content=b'{"access_token": "x", "expires_in": "soon"}'),
    ],
)
def test_what_is_no_token_is_an_error_of_the_folder(metadata: Metadata, answer) -> None:
    metadata.answer = answer
    with pytest.raises(BucketError, match="token"):
        KeptToken(MachineSource())(False)


def test_a_program_gives_tokens_where_there_is_no_metadata_server(tmp_path, monkeypatch) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"access_token": "t", "expires_in": 300}))
    monkeypatch.setenv(tokens.COMMAND, f"cat '{tmp_path / 't.json'}'")
    assert ambient_token()(False) == "t"


def test_what_the_program_complains_about_is_told(tmp_path) -> None:
    with pytest.raises(BucketError, match="log in again"):
        CommandSource("sh -c 'echo log in again >&2; exit 3'").ask()
