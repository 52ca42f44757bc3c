"""Unpacking: everything inside the folder, or nothing at all."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.agent.source import SourceRefused, unpack

Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, content: bytes = b"x", mode: int = 0o644) -> Member:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    return info, content


def other(name: str, kind: bytes, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


def folder(name: str) -> Member:
    return other(name, tarfile.DIRTYPE)


def link(name: str, target: str) -> Member:
    return other(name, tarfile.SYMTYPE, target)


def hard(name: str, target: str) -> Member:
    return other(name, tarfile.LNKTYPE, target)


def pack(*members: Member) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def unpack_into(path: Path, data: bytes) -> None:
    unpack(data, str(path), sha=hashlib.sha256(data).hexdigest())


REFUSED = {
    "absolute name": [file("/tmp/evil")],
    "name that climbs": [file("../evil")],
    "name that climbs inside": [file("a/../../evil")],
    "the folder itself as a file": [file(".")],
    "absolute link": [link("a", "/etc/passwd")],
    "link that climbs": [link("a", "../evil")],
    "link that climbs from below": [folder("d"), link("d/a", "../../evil")],
    "link that climbs through a link": [link("p", "."), link("a", "p/p/../../evil")],
    "empty link": [link("a", "")],
    "file through a link": [folder("d"), link("a", "d"), file("a/evil")],
    "folder through a link": [folder("d"), link("a", "d"), folder("a/e")],
    "file through a file": [file("a"), file("a/b")],
    "link replaced by a file": [link("a", "b"), file("a")],
    "file replaced by a link": [file("a"), link("a", "b")],
    "folder replaced by a link": [folder("a"), link("a", "b")],
    "link replaced by a folder": [link("a", "b"), folder("a")],
    "file twice": [file("a"), file("./a")],
    "hard link outside": [hard("a", "../../etc/passwd")],
    "hard link to an absolute name": [hard("a", "/etc/passwd")],
    "hard link to a link": [link("l", "x"), hard("a", "l")],
    "hard link to nothing": [hard("a", "b")],
    "character device": [other("a", tarfile.CHRTYPE)],
    "block device": [other("a", tarfile.BLKTYPE)],
    "fifo": [other("a", tarfile.FIFOTYPE)],
    "unknown kind": [other("a", b"V")],
    "sparse file": [other("a", tarfile.GNUTYPE_SPARSE)],
    "setuid": [file("a", mode=0o4755)],
    "setgid": [file("a", mode=0o2755)],
    "very long name": [file("/".join(["d" * 200] * 30))],
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_archive_that_reaches_outside_is_refused_whole(tmp_path: Path, case: str) -> None:
    target = tmp_path / "in" / "src"
    target.parent.mkdir()
    data = pack(file("innocent"), *REFUSED[case])
    with pytest.raises(SourceRefused):
        unpack_into(target, data)
    assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_an_archive_is_unpacked_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "src"
    data = pack(
        folder("."),
        folder("./sub"),
        file("./sub/ünï code.py", b"print(1)"),
        file("run.sh", b"#!/bin/sh", mode=0o775),
        file("no/folder/given"),
        link("latest", "sub"),
        link("sub/up", "../run.sh"),
        link("dangling", "nowhere/yet"),
        hard("same", "run.sh"),
        file("empty", b""),
    )
    unpack_into(target, data)
    assert (target / "sub" / "ünï code.py").read_bytes() == b"print(1)"
    assert (target / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (target / "latest" / "up").read_bytes() == b"#!/bin/sh"
    assert (target / "same").stat().st_ino == (target / "run.sh").stat().st_ino
    assert (target / "no" / "folder" / "given").exists()
    assert (target / "empty").read_bytes() == b""
    assert (target / "dangling").readlink() == Path("nowhere/yet")


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut in a header": lambda data: data[:700],
    "cut in a file": lambda data: data[:2048],
    "no tar": lambda data: b"PK\x03\x04" * 500,
    "compressed": lambda data: __import__("gzip").compress(data),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_archive_is_refused(tmp_path: Path, case: str) -> None:
    data = BROKEN[case](pack(file("a", b"x" * 5000), file("b", b"y" * 5000)))
    with pytest.raises(SourceRefused):
        unpack_into(tmp_path / "src", data)
    assert not (tmp_path / "src").exists()


def test_an_archive_with_another_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="SHA-256"):
        unpack(pack(file("a")), str(tmp_path / "src"), sha="0" * 64)


def test_a_size_larger_than_the_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(pack(file("a", b"x")))
    info = tarfile.TarInfo("a")
    info.size = 1 << 40
    data[:512] = info.tobuf(tarfile.GNU_FORMAT)[:512]
    with pytest.raises(SourceRefused):
        unpack_into(tmp_path / "src", bytes(data))


def test_leftovers_of_a_killed_unpack_are_replaced(tmp_path: Path) -> None:
    for name in ("src", "src.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
    unpack_into(tmp_path / "src", pack(file("new")))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "src"]


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "c"]), max_size=4).map("/".join)
MEMBERS = st.one_of(
    st.builds(file, NAMES),
    st.builds(folder, NAMES),
    st.builds(link, NAMES, NAMES),
    st.builds(hard, NAMES, NAMES),
)


@given(members=st.lists(MEMBERS, max_size=8))
def test_whatever_is_accepted_resolves_inside(
    tmp_path_factory: pytest.TempPathFactory, members: list[Member]
) -> None:
    root = tmp_path_factory.mktemp("unpack")
    target = root / "x" / "src"
    target.parent.mkdir()
    try:
        unpack_into(target, pack(*members))
    except (SourceRefused, OSError):
        assert not target.exists()
        return
    for path in target.rglob("*"):
        if path.is_symlink():
            assert os.path.realpath(path).startswith(str(target))
    assert [path.name for path in root.iterdir()] == ["x"]
    assert [path.name for path in (root / "x").iterdir()] == ["src"]
