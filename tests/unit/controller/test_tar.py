"""Headers that every reader of tar archives understands."""

from __future__ import annotations

import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from windlass.controller.tar import END, EntryKind, header, padding

parts = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1)
file_names = st.lists(parts.filter(lambda part: part not in (".", "..")), min_size=1, max_size=4)


def read(data: bytes) -> tarfile.TarInfo:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        [member] = archive.getmembers()
        return member


@given(file_names.map("/".join), st.binary(max_size=2000), st.booleans())
def test_a_file_reads_back(name, content, is_program):
    head = header(name, EntryKind.FILE, size=len(content), is_program=is_program)
    data = head + content + padding(len(content)) + END
    member = read(data)
    assert (member.name, member.size, member.isreg()) == (name, len(content), True)
    assert member.mode == (0o755 if is_program else 0o644)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = archive.extractfile(member)
        assert found is not None
        assert found.read() == content


@given(file_names.map("/".join), file_names.map("/".join))
def test_a_link_reads_back(name, target):
    member = read(header(name, EntryKind.LINK, target=target) + END)
    assert (member.name, member.linkname, member.issym()) == (name, target, True)


@given(file_names.map("/".join))
def test_a_folder_reads_back(name):
    member = read(header(name, EntryKind.FOLDER) + END)
    assert (member.name, member.isdir(), member.mode) == (name, True, 0o755)


@given(st.integers(0, 10**9))
def test_blocks_are_whole(size):
    assert (size + len(padding(size))) % 512 == 0
    assert len(header("a", EntryKind.FILE, size=size)) == 512
