"""Run folders are where the configuration says, and stay there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bucket_server
from bucket_server import BUCKET, BucketServer, refusal
from windlass.agent.bucket import BucketFolder
from windlass.agent.folder import DiskFolder, folder_url
from windlass.agent.open_folder import open_folder
from windlass.controller.folders import RunFolders
from windlass.errors import FolderUnreachable, OptionRefused, RunChanged
from windlass.spec.model import Checkpoint, Spec
from windlass.state.model import Run


class Store:
    """As much of a store as it takes."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}

    def add(self, run_id: str, **options: str) -> None:
        self.runs[run_id] = Run(
            id=run_id,
            name=run_id,
            spec="{}",
            owner="ada",
            engine="local",
            created_at=0.0,
            code="",
            reason="",
            options=json.dumps(options),
        )

    def get_run(self, run_id: str) -> Run | None:
        return self.runs.get(run_id)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def server(tmp_path, monkeypatch):
    with bucket_server.serving(tmp_path / "cloud") as serving:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", serving.url)
        yield serving


def opened(url: str):
    if url.startswith("gs://"):
        return BucketFolder(url, storage=bucket_server.storage(patience_s=0.5))
    return open_folder(url)


def folders_in(home: Path, store: Store, chosen: str | None) -> RunFolders:
    return RunFolders(home, chosen=chosen, store=lambda: store, open_folder=opened)


def packed(folders: RunFolders, run_id: str) -> str:
    path = folders.path(run_id)
    path.mkdir(parents=True)
    (path / "spec.yaml").write_bytes(b"name: r\n")
    (path / "source-ab.tar").write_bytes(b"tar")
    return "source-ab.tar"


def test_without_a_word_folders_are_in_the_home(tmp_path, store) -> None:
    folders = folders_in(tmp_path, store, None)
    source = packed(folders, "r")
    assert folders.send("r", source) == {}
    store.add("r")
    assert folders.url("r") == folders.new_url("r") == folder_url(tmp_path / "runs" / "r")
    assert folders.shown("r") == str(tmp_path / "runs" / "r")
    assert folders.open("r").read(source) == b"tar"
    folders.remove("r")
    assert not folders.path("r").exists()


def test_what_was_packed_goes_to_the_bucket_and_nothing_is_left_here(
    tmp_path, store, server: BucketServer
) -> None:
    folders = folders_in(tmp_path, store, f"gs://{BUCKET}/home/")
    said = folders.send("r", packed(folders, "r"))
    assert said == {"folder": f"gs://{BUCKET}/home/runs/r"}
    assert server.names() == ["home/runs/r/source-ab.tar", "home/runs/r/spec.yaml"]
    assert not folders.path("r").exists()
    store.add("r", **said)
    later = folders_in(tmp_path, store, None)
    assert later.shown("r") == said["folder"], "it stays, whatever the configuration says now"
    assert later.open("r").read("source-ab.tar") == b"tar"
    later.remove("r")
    assert server.names() == []


def test_a_path_may_be_chosen_too(tmp_path, store) -> None:
    folders = folders_in(tmp_path / "home", store, str(tmp_path / "shared"))
    store.add("r", **folders.send("r", packed(folders, "r")))
    assert (tmp_path / "shared" / "runs" / "r" / "spec.yaml").exists()
    assert isinstance(folders.open("r"), DiskFolder)
    folders.remove("r")
    assert not list((tmp_path / "shared").rglob("*.yaml"))


def test_an_id_that_another_has_is_not_taken_over(tmp_path, store, server) -> None:
    server.client.put("home/runs/r/spec.yaml", b"theirs", bucket=BUCKET)
    folders = folders_in(tmp_path, store, f"gs://{BUCKET}/home")
    with pytest.raises(RunChanged):
        folders.send("r", packed(folders, "r"))
    folders.take_back("r")
    assert server.client.bytes("home/runs/r/spec.yaml", bucket=BUCKET) == b"theirs"
    assert not folders.path("r").exists()


def test_what_was_brought_for_nothing_is_taken_back(tmp_path, store, server) -> None:
    folders = folders_in(tmp_path, store, f"gs://{BUCKET}/home")
    folders.send("r", packed(folders, "r"))
    folders.take_back("r")
    assert server.names() == []


def test_a_bucket_that_says_no_is_named(tmp_path, store, server: BucketServer) -> None:
    folders = folders_in(tmp_path, store, f"gs://{BUCKET}/home")
    server.next(refusal(403))
    with pytest.raises(FolderUnreachable, match="403") as caught:
        folders.send("r", packed(folders, "r"))
    assert "run_folder" in caught.value.remedy


def test_the_agent_is_put_beside_the_runs_once(tmp_path, store, server: BucketServer) -> None:
    program = tmp_path / "agent-abc.pyz"
    program.write_bytes(b"PK")
    folders = folders_in(tmp_path, store, f"gs://{BUCKET}/home")
    url = f"gs://{BUCKET}/home/agents/agent-abc.pyz"
    assert folders.agent_url(lambda: program) == folders.agent_url(lambda: program) == url
    assert len(server.asked) == 1
    assert folders_in(tmp_path, store, f"gs://{BUCKET}/home").agent_url(lambda: program) == url
    server.next(refusal(403))
    with pytest.raises(FolderUnreachable, match="403"):
        folders_in(tmp_path, store, f"gs://{BUCKET}/home").agent_url(lambda: program)


@pytest.mark.parametrize("chosen", [None, "/shared/windlass"])
def test_rented_machines_need_a_bucket(tmp_path, store, chosen) -> None:
    with pytest.raises(OptionRefused, match="bucket") as caught:
        folders_in(tmp_path, store, chosen).agent_url(lambda: tmp_path)
    assert "run_folder: gs://" in caught.value.remedy


@pytest.mark.parametrize(
    "chosen, to, needs",
    [
        (None, None, False),
        (None, "ckpt", False),
        (None, "gs://b/c", True),
        ("gs://b/c", None, True),
        ("/shared", "ckpt", False),
    ],
)
def test_who_needs_a_bucket_is_known(tmp_path, store, chosen, to, needs) -> None:
    spec = Spec(name="r", run="x", checkpoint=Checkpoint(to=to) if to else None)
    assert folders_in(tmp_path, store, chosen).needs_bucket(spec) is needs
