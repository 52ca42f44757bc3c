from __future__ import annotations

import json

from windlass.ports.entropy import SeededEntropy, seeded
from windlass.twin.cloud import Cloud
from windlass.twin.messages import Bytes, Request
from windlass.twin.server.ageing import let_objects_age
from windlass.twin.storage.service import Storage

DAY = 86_400.0
RULE = {"action": {"type": "Delete"}, "condition": {"age": 1}}


class Hand:
    """A clock that is turned by hand."""

    time = 1_800_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


def ask(storage: Storage, method: str, path: str, query: str = "", body: bytes = b"") -> int:
    request = Request(
        method=method,
        host="storage.googleapis.com",
        path=path,
        query=query,
        headers={"content-type": "application/json"},
        body=Bytes(body),
    )
    return storage.answer(request, principal="you@example.com").status


def test_objects_that_are_too_old_go_by_themselves(tmp_path):
    clock = Hand()
    cloud = Cloud(clock=clock, chance=seeded(1))
    storage = Storage(tmp_path, clock=clock, chance=SeededEntropy(1))
    let_objects_age(cloud, storage)
    bucket = {"name": "ageing-bucket", "lifecycle": {"rule": [RULE]}}
    assert ask(storage, "POST", "/storage/v1/b", "project=p", json.dumps(bucket).encode()) == 200
    upload = "/upload/storage/v1/b/ageing-bucket/o"
    assert ask(storage, "POST", upload, "uploadType=media&name=old", b"x") == 200
    clock.time += DAY / 2
    cloud.advance()
    assert ask(storage, "GET", "/storage/v1/b/ageing-bucket/o/old") == 200
    clock.time += DAY
    cloud.advance()
    assert ask(storage, "GET", "/storage/v1/b/ageing-bucket/o/old") == 404
