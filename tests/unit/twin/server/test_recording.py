from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from windlass.twin.messages import Request, json_response
from windlass.twin.server.recording import GONE, Recorder

HEADERS = {"authorization": "Bearer s3cret", "accept": "json", "x-goog-api-key": "s3cret"}


def recorded(
    path: Path, *, query: str = "", body: Any = None, answer: Any = None, method: str
) -> Any:
    recorder = Recorder(path)
    request = Request(method="POST", host="h", path="/p", query=query, headers=HEADERS)
    recorder(request, body, json_response(answer), method)
    recorder._file.close()
    raw = path.read_text()
    assert "s3cret" not in raw
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return json.loads(raw)


def test_call_is_recorded_as_it_was_but_for_its_token(tmp_path: Path) -> None:
    line = recorded(
        tmp_path / "r",
        query="a=1&access_token=s3cret&b=",
        body={"name": "x", "items": [{"key": "k", "value": "v"}]},
        answer={"data": "d", "key": "k"},
        method="compute.instances.insert",
    )
    assert line["headers"] == {"accept": "json"}
    assert line["query"].startswith("a=1&access_token=")
    assert line["body"] == {"name": "x", "items": [{"key": "k", "value": "v"}]}
    assert line["response"] == {"data": "d", "key": "k"}


def test_query_without_secrets_stays_as_it_was_sent(tmp_path: Path) -> None:
    query = "names=a%2Fb&names=c&x"
    assert recorded(tmp_path / "r", query=query, method="m")["query"] == query


def test_secrets_in_bodies_are_not_recorded(tmp_path: Path) -> None:
    cases = {
        "iamcredentials.projects.serviceAccounts.generateAccessToken": {"accessToken": "s3cret"},
        "iam.projects.serviceAccounts.keys.create": {"name": "n", "privateKeyData": "s3cret"},
        "secretmanager.projects.secrets.versions.access": {"payload": {"data": "s3cret"}},
    }
    for number, (method, answer) in enumerate(cases.items()):
        line = recorded(tmp_path / str(number), answer=answer, body=answer, method=method)
        assert GONE in json.dumps(line["response"])
        assert GONE in json.dumps(line["body"])
