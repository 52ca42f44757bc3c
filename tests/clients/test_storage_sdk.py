"""Clients of Cloud Storage: google-cloud-storage, gcsfs, obstore and rclone."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from client_twin import ClientTwin, need_package, need_program

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("env")]

LARGE = os.urandom(9 << 20)


@pytest.fixture
def storage():
    return need_package("google.cloud.storage")


def test_google_cloud_storage(storage):
    exceptions = need_package("google.api_core.exceptions")
    client = storage.Client()
    bucket = client.create_bucket("sdk-storage", location="us-central1")
    bucket.add_lifecycle_delete_rule(age=30)
    bucket.versioning_enabled = True
    bucket.patch()
    assert client.get_bucket("sdk-storage").location == "US-CENTRAL1"
    small = bucket.blob("runs/small.txt")
    small.metadata = {"step": "1"}
    small.upload_from_string("hello", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        small.upload_from_string("again", if_generation_match=0)
    large = bucket.blob("runs/large.bin", chunk_size=1 << 20)
    large.upload_from_string(LARGE)
    assert large.download_as_bytes() == LARGE
    assert large.download_as_bytes(start=5, end=9) == LARGE[5:10]
    parts = bucket.blob("runs/both")
    parts.compose([small, large])
    assert parts.size == len(LARGE) + 5
    bucket.copy_blob(small, bucket, "copies/small.txt")
    bucket.rename_blob(bucket.blob("copies/small.txt"), "copies/renamed.txt")
    listed = client.list_blobs("sdk-storage", prefix="runs/", page_size=1)
    assert [blob.name for blob in listed] == ["runs/both", "runs/large.bin", "runs/small.txt"]
    folders = client.list_blobs("sdk-storage", delimiter="/")
    assert list(folders) == []
    assert folders.prefixes == {"runs/", "copies/"}
    small.reload()
    assert (small.metadata, small.generation > 0) == ({"step": "1"}, True)
    assert small.generate_signed_url(expiration=timedelta(hours=1)).startswith("https://")
    everything = list(client.list_blobs("sdk-storage", versions=True))
    with client.batch():
        for blob in everything:
            bucket.delete_blob(blob.name, generation=blob.generation)
    bucket.delete()
    assert client.lookup_bucket("sdk-storage") is None


def test_google_cloud_storage_in_parallel(storage, tmp_path):
    manager = need_package("google.cloud.storage.transfer_manager")
    bucket = storage.Client().create_bucket("sdk-parallel")
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"shard {number}")
    names = [f"{number}.txt" for number in range(5)]
    threads = {"worker_type": manager.THREAD, "max_workers": 4}
    sent = manager.upload_many_from_filenames(
        bucket, names, source_directory=str(tmp_path), **threads
    )
    assert sent == [None] * 5
    (tmp_path / "large").write_bytes(LARGE)
    manager.upload_chunks_concurrently(
        str(tmp_path / "large"), bucket.blob("large"), chunk_size=5 << 20, **threads
    )
    manager.download_chunks_concurrently(
        bucket.get_blob("large"), str(tmp_path / "back"), chunk_size=2 << 20, **threads
    )
    assert (tmp_path / "back").read_bytes() == LARGE
    got = manager.download_many_to_path(
        bucket, names, destination_directory=str(tmp_path / "all"), **threads
    )
    assert got == [None] * 5
    assert (tmp_path / "all" / "3.txt").read_text() == "shard 3"
    bucket.delete(force=True)


def test_gcsfs():
    gcsfs = need_package("gcsfs")
    files = gcsfs.GCSFileSystem(project="twin-project", session_kwargs={"trust_env": True})
    files.mkdir("sdk-gcsfs")
    with files.open("sdk-gcsfs/a/small.txt", "w") as file:
        file.write("hello")
    with files.open("sdk-gcsfs/a/large.bin", "wb", block_size=1 << 20) as file:
        file.write(LARGE)
    assert files.cat("sdk-gcsfs/a/small.txt") == b"hello"
    with files.open("sdk-gcsfs/a/large.bin", "rb") as file:
        file.seek(1 << 20)
        assert file.read(10) == LARGE[1 << 20 : (1 << 20) + 10]
    files.copy("sdk-gcsfs/a/small.txt", "sdk-gcsfs/b/copy.txt")
    files.invalidate_cache()
    assert sorted(files.find("sdk-gcsfs")) == [
        "sdk-gcsfs/a/large.bin",
        "sdk-gcsfs/a/small.txt",
        "sdk-gcsfs/b/copy.txt",
    ]
    assert files.info("sdk-gcsfs/a/large.bin")["size"] == len(LARGE)
    files.rm("sdk-gcsfs", recursive=True)
    files.invalidate_cache()
    assert not files.exists("sdk-gcsfs")


def make_bucket(twin: ClientTwin, name: str) -> None:
    """For clients that cannot make one."""
    running = twin.home.running()
    assert running is not None
    body = json.dumps({"name": name}).encode()
    headers = {"Authorization": f"Bearer {twin.token}", "Content-Type": "application/json"}
    address = f"{running.url}/storage/v1/b?project=twin-project"
    urlopen(Request(address, data=body, headers=headers), timeout=10).close()


def test_obstore(env: ClientTwin):
    obstore = need_package("obstore")
    stores = need_package("obstore.store")
    make_bucket(env, "sdk-obstore")
    store = stores.GCSStore("sdk-obstore", client_options={"allow_http": True})
    made = obstore.put(store, "a/small.txt", b"hello", mode="create")
    assert made["e_tag"]
    with pytest.raises(obstore.exceptions.AlreadyExistsError):
        obstore.put(store, "a/small.txt", b"again", mode="create")
    obstore.put(store, "a/large.bin", LARGE, chunk_size=5 << 20, use_multipart=True)
    assert bytes(obstore.get(store, "a/large.bin").bytes()) == LARGE
    assert bytes(obstore.get_range(store, "a/large.bin", start=7, length=3)) == LARGE[7:10]
    obstore.copy(store, "a/small.txt", "b/copy.txt")
    names = [one["path"] for batch in obstore.list(store) for one in batch]
    assert names == ["a/large.bin", "a/small.txt", "b/copy.txt"]
    assert obstore.list_with_delimiter(store)["common_prefixes"] == ["a", "b"]
    obstore.delete(store, names)
    assert [one for batch in obstore.list(store) for one in batch] == []


def test_rclone(env: ClientTwin, tmp_path: Path):
    need_program("rclone")

    def rclone(words: str) -> str:
        done = env.bash(f"rclone --retries 1 {words}", cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        return done.stdout

    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/a.txt").write_text("hello")
    (tmp_path / "tree/deep/large.bin").write_bytes(LARGE)
    rclone("mkdir twin:sdk-rclone")
    assert "sdk-rclone" in rclone("lsd twin:")
    rclone("copy tree twin:sdk-rclone/tree")
    assert "2 matching files" in rclone("check tree twin:sdk-rclone/tree -v")
    assert rclone("cat twin:sdk-rclone/tree/a.txt") == "hello"
    rclone("moveto twin:sdk-rclone/tree/a.txt twin:sdk-rclone/tree/b.txt")
    (tmp_path / "tree/a.txt").rename(tmp_path / "tree/c.txt")
    rclone("sync tree twin:sdk-rclone/tree")
    listed = rclone("lsf -R twin:sdk-rclone/tree").split()
    assert sorted(listed) == ["c.txt", "deep/", "deep/large.bin"]
    rclone("copy twin:sdk-rclone/tree back")
    assert (tmp_path / "back/deep/large.bin").read_bytes() == LARGE
    rclone("purge twin:sdk-rclone")
    assert "sdk-rclone" not in rclone("lsd twin:")
