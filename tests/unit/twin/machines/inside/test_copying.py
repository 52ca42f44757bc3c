"""What comes out of a machine lands where it was asked for, and nowhere else."""

from __future__ import annotations

import io
import tarfile

import pytest

from windlass.twin.machines.inside import copying


def _stream(*members: tarfile.TarInfo) -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    out.seek(0)
    return out


def _file(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = 1
    return member


def _link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


BAD = {
    "a path upwards": [_file("a/../../evil")],
    "a link out and a file through it": [_link("a/l", "../.."), _file("a/l/evil")],
    "an absolute link": [_link("a/l", "/etc"), _file("a/l/evil")],
}


@pytest.mark.parametrize("case", BAD)
def test_a_stream_cannot_leave_its_folder(tmp_path, case):
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(tarfile.TarError):
        copying.unpack(_stream(*BAD[case]), f"{target}/")
    assert not list(tmp_path.glob("evil"))
    assert {path.name for path in tmp_path.iterdir()} == {"target"}


def test_a_single_thing_may_get_another_name(tmp_path):
    copying.unpack(_stream(_file("/absolute")), str(tmp_path))
    assert (tmp_path / "absolute").read_bytes() == b"x"
    copying.unpack(_stream(_file("one")), str(tmp_path / "two"))
    assert (tmp_path / "two").read_bytes() == b"x"


def test_a_folder_is_packed_only_when_asked(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(copying.CopyRefused, match="not a regular file"):
        copying.pack([str(tmp_path / "folder")], io.BytesIO(), is_deep=False)
    with pytest.raises(copying.CopyRefused, match="No such file"):
        copying.unpack(_stream(_file("x")), str(tmp_path / "no" / "where"))
