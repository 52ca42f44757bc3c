"""The twin's Cloud Storage does what a dictionary would do, whatever the order of requests.

Must not look into the service: only what its answers show is compared.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from buckets import Client, CutBody, HandClock, content, headers, open_storage, place, uploads

QUANTUM = 256 << 10
STEPS = 30
NAMES = st.sampled_from(["a", "a/", "a/b", "a/b/c", "ab", "b", "ü/x", "../up"])
# Nothing, inline, just inline, a blob, more than a quantum.
BODIES = st.builds(
    lambda letter, size: bytes([letter]) * size,
    st.integers(97, 122),
    st.sampled_from([0, 1, 100, 65_536, 65_537, QUANTUM + 5]),
)
WAYS = st.sampled_from(["media", "related", "session", "chunks", "cut", "xml"])
GUARDS = st.fixed_dictionaries(
    {},
    optional={
        "ifGenerationMatch": st.sampled_from(["none", "live", "wrong"]),
        "ifGenerationNotMatch": st.sampled_from(["none", "live", "wrong"]),
        "ifMetagenerationMatch": st.sampled_from(["live", "wrong"]),
        "ifMetagenerationNotMatch": st.sampled_from(["live", "wrong"]),
    },
)


@dataclass
class Entry:
    """A generation of an object."""

    generation: int
    body: bytes
    metageneration: int = 1
    metadata: dict[str, str] = field(default_factory=dict)
    components: int = 0
    is_live: bool = True


@dataclass
class Model:
    """A bucket without a disk."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    is_versioned: bool = False
    newest: int = 0

    def live(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries.get(name, []) if entry.is_live), None)

    def put(self, name: str, entry: Entry) -> None:
        assert entry.generation > self.newest
        self.newest = entry.generation
        self.retire(name)
        self.entries.setdefault(name, []).append(entry)

    def retire(self, name: str) -> None:
        for entry in list(self.entries.get(name, [])):
            if entry.is_live and not self.is_versioned:
                self.entries[name].remove(entry)
            entry.is_live = False

    def asked(self, name: str, guards: dict[str, str]) -> dict[str, int]:
        """Guards as a client would send them."""
        live = self.live(name)
        values = {"none": 0, "wrong": 12345}
        found = {}
        for key, value in guards.items():
            number = 0 if live is None else live.generation
            if "Meta" in key and live is not None:
                number = live.metageneration
            found[key] = values.get(value, number)
        return found

    def is_refused(self, name: str, asked: dict[str, int]) -> bool:
        """Whether a change with these guards must be refused."""
        live = self.live(name)
        generation = live.generation if live else 0
        meta = live.metageneration if live else 0
        return (
            asked.get("ifGenerationMatch", generation) != generation
            or asked.get("ifGenerationNotMatch") == generation
            or asked.get("ifMetagenerationMatch", meta) != meta
            or asked.get("ifMetagenerationNotMatch") == meta
        )


class StorageMachine(RuleBasedStateMachine):
    """Drives a service and the model side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="windlass-model-"))
        self.clock = HandClock()
        self.model = Model()
        self.storage = open_storage(self.folder, clock=self.clock)
        self.client = Client(self.storage)

    @initialize(is_versioned=st.booleans())
    def make_bucket(self, is_versioned: bool) -> None:
        self.model.is_versioned = is_versioned
        self.client.make_bucket(versioning={"enabled": is_versioned})

    def teardown(self) -> None:
        self.storage.close()
        shutil.rmtree(self.folder)

    @rule(name=NAMES, body=BODIES, way=WAYS, guards=GUARDS)
    def put(self, name: str, body: bytes, way: str, guards: dict[str, str]) -> None:
        asked = self.model.asked(name, guards)
        status, generation = _put(self.client, name, body, way=way, asked=asked)
        if self.model.is_refused(name, asked):
            assert status == 412
        else:
            assert status == 200
            self.model.put(name, Entry(generation, body))

    @rule(name=NAMES, guards=GUARDS)
    def delete(self, name: str, guards: dict[str, str]) -> None:
        asked = self.model.asked(name, guards)
        status = self.client.ask("DELETE", place(name), **asked).status
        if self.model.live(name) is None:
            assert status == 404
        elif self.model.is_refused(name, asked):
            assert status == 412
        else:
            assert status == 204
            self.model.retire(name)

    @rule(name=NAMES, which=st.integers(0, 5))
    def delete_generation(self, name: str, which: int) -> None:
        entries = self.model.entries.get(name, [])
        if which >= len(entries):
            assert self.client.ask("DELETE", place(name), generation=77).status == 404
            return
        entry = entries.pop(which)
        self.client.delete(name, generation=entry.generation)

    @rule(name=NAMES, guards=GUARDS, value=st.sampled_from(["1", "2", None]))
    def patch(self, name: str, guards: dict[str, str], value: str | None) -> None:
        asked = self.model.asked(name, guards)
        response = self.client.ask("PATCH", place(name), body={"metadata": {"k": value}}, **asked)
        live = self.model.live(name)
        if live is None:
            assert response.status == 404
        elif self.model.is_refused(name, asked):
            assert response.status == 412
        else:
            live.metageneration += 1
            live.metadata = {} if value is None else {"k": value}

    @rule(sources=st.lists(NAMES, min_size=1, max_size=4), name=NAMES)
    def compose(self, sources: list[str], name: str) -> None:
        body = {"sourceObjects": [{"name": source} for source in sources]}
        response = self.client.ask("POST", f"{place(name)}/compose", body=body)
        found = [self.model.live(source) for source in sources]
        if None in found:
            assert response.status == 404
            return
        parts = [entry for entry in found if entry is not None]
        made = json.loads(content(response))
        joined = b"".join(entry.body for entry in parts)
        count = sum(entry.components or 1 for entry in parts)
        self.model.put(name, Entry(int(made["generation"]), joined, components=count))

    @rule(source=NAMES, name=NAMES, guards=GUARDS)
    def copy(self, source: str, name: str, guards: dict[str, str]) -> None:
        asked = self.model.asked(name, guards)
        path = f"{place(source)}/rewriteTo/b/shelf/o/{place(name).rpartition('/')[2]}"
        response = self.client.ask("POST", path, **asked)
        entry = self.model.live(source)
        if entry is None:
            assert response.status == 404
        elif self.model.is_refused(name, asked):
            assert response.status == 412
        else:
            made = json.loads(content(response))["resource"]
            copied = Entry(int(made["generation"]), entry.body, components=entry.components)
            copied.metadata = dict(entry.metadata)
            self.model.put(name, copied)

    @rule(name=NAMES, start=st.integers(0, 70_000), length=st.integers(1, 70_000))
    def read_range(self, name: str, start: int, length: int) -> None:
        entry = self.model.live(name)
        sent = {"range": f"bytes={start}-{start + length - 1}"}
        response = self.client.ask("GET", place(name), alt="media", sent=sent)
        if entry is None:
            assert response.status == 404
        elif start >= len(entry.body):
            assert response.status == 416
        else:
            assert content(response) == entry.body[start : start + length]

    @rule(
        prefix=st.sampled_from(["", "a", "a/", "a/b", "z"]),
        delimiter=st.sampled_from(["", "/"]),
        has_versions=st.booleans(),
        most=st.integers(1, 5),
    )
    def list_pages(self, prefix: str, delimiter: str, has_versions: bool, most: int) -> None:
        found: list[tuple[str, int]] = []
        groups: list[str] = []
        query = {"prefix": prefix, "delimiter": delimiter, "versions": has_versions}
        token: dict[str, str] = {}
        while True:
            page = self.client.json(
                "GET", "/storage/v1/b/shelf/o", maxResults=most, **query, **token
            )
            items = page.get("items", [])
            assert len(items) + len(page.get("prefixes", [])) <= most
            found += [(item["name"], int(item["generation"])) for item in items]
            groups += page.get("prefixes", [])
            if "nextPageToken" not in page:
                break
            token = {"pageToken": page["nextPageToken"]}
        assert (found, groups) == _listed(self.model, prefix, delimiter, has_versions)

    @rule(seconds=st.sampled_from([0.001, 5.0]))
    def wait(self, seconds: float) -> None:
        self.clock.at += seconds

    @rule()
    def restart(self) -> None:
        self.storage.close()
        self.storage = open_storage(self.folder, clock=self.clock)
        self.client = Client(self.storage)

    @invariant()
    def agrees(self) -> None:
        for name, entries in self.model.entries.items():
            if self.model.live(name) is None:
                assert self.client.ask("GET", place(name)).status == 404
            for entry in entries:
                _check_entry(self.client, name, entry)

    @invariant()
    def keeps_no_garbage(self) -> None:
        """Copies share a blob, so there are at most as many as there are generations."""
        most = sum(len(entries) for entries in self.model.entries.values())
        assert len(list((self.folder / "blobs").iterdir())) <= most


def _check_entry(client: Client, name: str, entry: Entry) -> None:
    query = {} if entry.is_live else {"generation": entry.generation}
    shown = client.get(name, **query)
    assert int(shown["generation"]) == entry.generation
    assert int(shown["metageneration"]) == entry.metageneration
    assert int(shown["size"]) == len(entry.body)
    assert shown.get("metadata", {}) == entry.metadata
    assert shown.get("componentCount", 0) == entry.components
    assert ("timeDeleted" in shown) is not entry.is_live
    digest = base64.b64encode(hashlib.md5(entry.body).digest()).decode()
    assert shown.get("md5Hash") == (None if entry.components else digest)
    assert client.bytes(name, **query) == entry.body


def _listed(
    model: Model, prefix: str, delimiter: str, has_versions: bool
) -> tuple[list[tuple[str, int]], list[str]]:
    items: list[tuple[str, int]] = []
    groups: set[str] = set()
    for name, entries in model.entries.items():
        for entry in entries:
            if not name.startswith(prefix) or not (has_versions or entry.is_live):
                continue
            head, found, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            if found:
                groups.add(prefix + head + found)
            else:
                items.append((name, entry.generation))
    return sorted(items), sorted(groups)


def _put(
    client: Client, name: str, body: bytes, *, way: str, asked: dict[str, int]
) -> tuple[int, int]:
    """Upload in one of many ways: the status, and the generation that was made."""
    if way == "xml":
        sent = {f"x-goog-if-{_dashed(key)}": str(value) for key, value in asked.items()}
        response = client.ask(
            "PUT", f"/shelf/{place(name).rpartition('/')[2]}", body=body, sent=sent
        )
        return response.status, int(headers(response).get("x-goog-generation", 0))
    if way == "media":
        response = client.ask("POST", uploads(), uploadType="media", name=name, body=body, **asked)
    elif way == "related":
        head = b'--b\r\nContent-Type: application/json\r\n\r\n{"name":' + json.dumps(name).encode()
        whole = head + b"}\r\n--b\r\nContent-Type: x/y\r\n\r\n" + body + b"\r\n--b--\r\n"
        response = client.ask(
            "POST", uploads(), uploadType="multipart", body=whole,
            sent={"content-type": "multipart/related; boundary='b'"}, **asked,
        )  # fmt: skip
    else:
        response = client.ask("POST", uploads(), uploadType="resumable", name=name, **asked)
        if response.status != 200:
            return response.status, 0
        session = headers(response)["location"].rpartition("upload_id=")[2]
        response = _send(client, session, body, way=way)
    if response.status != 200:
        return response.status, 0
    return 200, int(json.loads(content(response))["generation"])


def _send(client: Client, session: str, body: bytes, *, way: str):
    start, size = 0, len(body)
    if way == "cut" and size:
        with pytest.raises(ConnectionError):
            client.send(session, CutBody(body[:-1]), span=f"bytes 0-{size - 1}/{size}")
        known = headers(client.send(session, span=f"bytes */{size}")).get("range", "bytes=0--1")
        start = int(known.removeprefix("bytes=0-")) + 1
    elif way == "chunks" and size > QUANTUM:
        client.send(session, body[:QUANTUM], span=f"bytes 0-{QUANTUM - 1}/*")
        start = QUANTUM
    span = f"bytes {start}-{size - 1}/{size}" if start < size and way != "session" else ""
    return client.send(session, body[start:], span=span or f"bytes */{size}" if not size else span)


def _dashed(key: str) -> str:
    words = {"Generation": "-generation", "Metageneration": "-metageneration"}
    text = key.removeprefix("if")
    for word in ("Metageneration", "Generation"):
        if text.startswith(word):
            rest = {"Match": "-match", "NotMatch": "-not-match"}[text.removeprefix(word)]
            return words[word].lstrip("-") + rest
    raise AssertionError(key)


TestStorage = pytest.mark.soak(StorageMachine.TestCase)
TestStorage.settings = settings(settings.default, stateful_step_count=STEPS)
