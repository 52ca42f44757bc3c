"""The source archive holds what it should, byte for byte the same each time, and nothing else."""

from __future__ import annotations

import hashlib
import os
import socket
import tarfile
import time
from pathlib import Path

import pytest

from windlass.controller import source
from windlass.controller.source import pack
from windlass.errors import SourceRefused


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def names(path: Path) -> list[str]:
    with tarfile.open(path) as archive:
        return archive.getnames()


@pytest.fixture
def workdir(tmp_path):
    path = tmp_path / "work dir ä"
    path.mkdir()
    return path


@pytest.fixture
def target(tmp_path):
    return tmp_path / "runs" / "r1"


def test_the_archive_is_named_by_its_hash_and_holds_the_files(workdir, target):
    make(workdir, {"train.py": "print(1)\n", "pkg/a.py": "", "pkg/b.py": "b" * 1000})
    (workdir / "train.py").chmod(0o700)
    packed = pack(workdir, target)
    data = packed.path.read_bytes()
    assert packed.sha == hashlib.sha256(data).hexdigest()
    assert packed.path == target / f"source-{packed.sha}.tar"
    assert (packed.files, packed.size_bytes, packed.notes) == (3, len(data), ())
    with tarfile.open(packed.path) as archive:
        assert archive.getnames() == ["pkg/a.py", "pkg/b.py", "train.py"]
        assert [member.mode for member in archive] == [0o644, 0o644, 0o755]
        assert {(m.uid, m.gid, m.mtime, m.uname, m.gname) for m in archive} == {(0, 0, 0, "", "")}
        content = archive.extractfile("pkg/b.py")
        assert content is not None
        assert content.read() == b"b" * 1000


def test_the_same_files_give_the_same_bytes_wherever_and_whenever_they_are(tmp_path, target):
    files = {"b.py": "1", "a/c.py": "2", "a-b.py": "3", "ä.py": "4"}
    first = make(tmp_path / "one", files)
    second = make(tmp_path / "two", dict(reversed(files.items())))
    os.utime(second / "b.py", (1, 1))
    (second / "b.py").chmod(0o600)
    assert pack(first, target).sha == pack(second, target).sha
    (second / "b.py").write_text("2")
    assert pack(first, target).sha != pack(second, target).sha


def test_packing_again_leaves_one_archive_and_no_leftovers(workdir, target):
    make(workdir, {"a": "b"})
    assert pack(workdir, target) == pack(workdir, target)
    assert len(list(target.iterdir())) == 1


def test_an_empty_workdir_gives_an_archive_of_nothing(workdir, target):
    packed = pack(workdir, target)
    assert packed.files == 0
    assert names(packed.path) == []


def test_names_of_any_script_and_length_survive(workdir, target):
    files = [
        "mit leer zeichen.py",
        "größe/東京.py",
        "x" * 200 + "/" + "y" * 200,
        "a\nb",
        "-rf",
        "ñ" * 60,
    ]
    make(workdir, dict.fromkeys(files, "1"))
    assert names(pack(workdir, target).path) == sorted(files)


def test_a_name_that_is_not_utf8_survives(workdir, target):
    name = os.fsdecode(b"caf\xe9.py")
    make(workdir, {name: "1"})
    assert names(pack(workdir, target).path) == [name]


def test_what_is_never_shipped_is_not(workdir, target):
    make(
        workdir,
        {
            ".git/config": "",
            "sub/.git": "gitdir: elsewhere",
            "sub/__pycache__/a.pyc": "",
            ".venv/pyvenv.cfg": "",
            ".venv/lib/x.py": "",
            "deep/my-env/pyvenv.cfg": "",
            "sub/kept.py": "",
        },
    )
    os.mkfifo(workdir / "pipe")
    # Addresses of sockets are short, so it is bound from inside the folder.
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(workdir)
        server.bind("socket")
        os.chdir(before)
        packed = pack(workdir, target)
    assert names(packed.path) == ["sub/kept.py"]
    assert sorted(note.split()[2] for note in packed.notes) == ["pipe", "socket"]


def test_an_empty_folder_is_kept_and_a_folder_of_ignored_files_is_not(workdir, target):
    make(workdir, {".gitignore": "*.log\n", "logs/a.log": "", "code/a.py": ""})
    (workdir / "out" / "empty").mkdir(parents=True)
    assert names(pack(workdir, target).path) == [".gitignore", "code/a.py", "out/empty"]


def test_links_inside_are_kept_and_links_out_are_left_out_with_a_note(workdir, target, tmp_path):
    make(workdir, {"a/real.py": "1", "b/x": ""})
    make(tmp_path, {"secret": "s"})
    links = {
        "inside": "a/real.py",
        "b/up": "../a/real.py",
        "dangling": "a/nothing",
        "folder": "a",
        "itself": "itself",
        "up": "..",
        "out": "../secret",
        "b/out": "../../secret",
        "absolute": str(workdir / "a" / "real.py"),
        "there-and-back": f"../{workdir.name}/a/real.py",
        "etc": "/etc/passwd",
    }
    for name, to in links.items():
        (workdir / name).symlink_to(to)
    packed = pack(workdir, target)
    with tarfile.open(packed.path) as archive:
        kept = {member.name: member.linkname for member in archive if member.issym()}
    expected = ("inside", "b/up", "dangling", "folder", "itself")
    assert kept == {name: links[name] for name in expected}
    assert len(packed.notes) == len(links) - len(expected)
    assert packed.files == 2


def test_a_link_through_a_link_that_leaves_is_left_out(workdir, target, tmp_path):
    make(tmp_path, {"data/x": ""})
    (workdir / "data").symlink_to(tmp_path / "data")
    (workdir / "x").symlink_to("data/x")
    packed = pack(workdir, target)
    assert names(packed.path) == []
    assert len(packed.notes) == 2


def test_a_workdir_that_is_a_link_is_followed(workdir, target, tmp_path):
    make(workdir, {"a.py": ""})
    (tmp_path / "link").symlink_to(workdir)
    assert names(pack(tmp_path / "link", target).path) == ["a.py"]


def test_the_target_and_the_home_inside_the_workdir_are_not_shipped(workdir):
    make(workdir, {"a.py": "", "home/store.db": "", "home/runs/r1/log": "", "out/old.tar": ""})
    packed = pack(workdir, workdir / "out", leave_out=[workdir / "home"])
    assert names(packed.path) == ["a.py"]


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_workdir_that_is_no_folder_is_refused(tmp_path, target, name):
    make(tmp_path, {"file": ""})
    with pytest.raises(SourceRefused):
        pack(tmp_path / name, target)
    assert not target.exists()


def test_a_workdir_that_is_too_large_names_its_largest_entries(workdir, target):
    make(workdir, {"small.py": "1", "data/raw/b.bin": "", "model.bin": ""})
    for name, mib in (("data/raw/b.bin", 400), ("model.bin", 200)):
        with (workdir / name).open("wb") as file:
            file.truncate(mib * 1024**2)
    with pytest.raises(SourceRefused) as caught:
        pack(workdir, target)
    assert "600.0 MiB, more than 512.0 MiB" in caught.value.message
    assert "data/ 400.0 MiB in 1 files, model.bin 200.0 MiB" in caught.value.message
    assert ".windlassignore" in caught.value.remedy
    assert not target.exists()
    make(workdir, {".windlassignore": "/data\n"})
    assert "model.bin" in names(pack(workdir, target).path)


def test_a_workdir_of_too_many_files_is_refused_at_once(workdir, target, monkeypatch):
    monkeypatch.setattr(source, "FILES_MAX", 20)
    make(workdir, {f"many/{number}": "" for number in range(21)})
    with pytest.raises(SourceRefused, match="more than 20 files.*many/"):
        pack(workdir, target)


def test_a_file_that_cannot_be_read_is_named(workdir, target):
    make(workdir, {"locked": "1"})
    (workdir / "locked").chmod(0)
    if os.access(workdir / "locked", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(SourceRefused, match="locked"):
        pack(workdir, target)
    assert list(target.iterdir()) == []


def test_a_file_that_shrinks_while_it_is_packed_is_refused(workdir, target):
    make(workdir, {"log": "x" * 10})
    entry = source._Entry("log", source.EntryKind.FILE, size=11)
    with pytest.raises(SourceRefused, match="shorter"):
        source._write(source._bytes_of(workdir, [entry]), workdir)
    assert [path.name for path in workdir.iterdir()] == ["log"]


def test_a_small_workdir_is_packed_in_milliseconds(workdir, target, record_property):
    make(workdir, {f"pkg/file{number}.py": "x" * 2000 for number in range(30)})
    times = []
    for _ in range(5):
        started = time.perf_counter()
        pack(workdir, target)
        times.append(time.perf_counter() - started)
    took_ms = min(times) * 1000
    record_property("pack_30_files_ms", round(took_ms, 1))
    assert took_ms < 100
