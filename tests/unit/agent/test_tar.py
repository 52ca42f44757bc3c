"""Our reader of tar archives sees what Python's own sees, and refuses the rest."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.agent.tar import NotTar, members

KINDS = {
    "file": tarfile.REGTYPE,
    "same": tarfile.LNKTYPE,
    "link": tarfile.SYMTYPE,
    "folder": tarfile.DIRTYPE,
}
NAMES = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=180
)


def archive(*entries: tuple[str, str, str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as made:
        for kind, name, target, content in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode = KINDS[kind], target, 0o640
            info.size = len(content) if kind == "file" else 0
            made.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


ENTRIES = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), NAMES, NAMES, st.binary(max_size=1500)), max_size=6
)


@given(entries=ENTRIES)
def test_every_member_is_seen_as_it_was_packed(entries):
    data = archive(*entries)
    seen = []
    for member in members(data):
        name = member.name.rstrip("/") if member.kind == "folder" else member.name
        content = data[member.begin : member.begin + member.size]
        seen.append((member.kind, name, member.target, content))
        assert member.mode == 0o640
    with tarfile.open(fileobj=io.BytesIO(data)) as theirs:
        letters = {letter: kind for kind, letter in KINDS.items()}
        assert seen == [
            (
                letters[info.type],
                info.name,
                info.linkname,
                data[info.offset_data : info.offset_data + info.size],
            )
            for info in theirs.getmembers()
        ]


def test_a_long_name_of_the_older_format_is_put_together():
    name = "/".join(["d" * 60, "e" * 60, "f" * 60])
    [member] = members(archive(("file", name, "", b"x"), form=tarfile.USTAR_FORMAT))
    assert member.name == name


@given(data=st.binary(max_size=1200))
def test_junk_is_refused(data):
    if data[:512] == bytes(512):
        return
    with pytest.raises(NotTar):
        list(members(data))


@given(place=st.integers(0, 511), byte=st.integers(0, 255))
def test_a_damaged_header_is_refused(place, byte):
    data = bytearray(archive(("file", "a", "", b"content")))
    if data[place] == byte:
        return
    data[place] = byte
    try:
        [member] = members(bytes(data))
    except NotTar:
        return
    assert member.name == "a", "only the spelling of the sum itself may differ"


def _with_record(record: bytes) -> bytes:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = b"x", len(record)
    lead = info.tobuf(tarfile.USTAR_FORMAT) + record.ljust(512, b"\0")
    return lead + archive(("file", "a", "", b""))


DAMAGED = {
    "no length": b"path=a\n",
    "a length beyond the end": b"99 path=a\n",
    "a length too short": b"3 path=a\n",
    "no end of line": b"10 path=abc",
    "no value": b"7 path\n",
    "a size of its own": b"10 size=1\n",
    "a sparse file": b"22 GNU.sparse.major=1\n",
}


@pytest.mark.parametrize("case", DAMAGED)
def test_an_extended_record_that_is_wrong_is_refused(case):
    with pytest.raises(NotTar):
        list(members(_with_record(DAMAGED[case])))


def test_a_whole_extended_record_names_the_member_after_it():
    [member] = members(_with_record(b"14 path=other\n"))
    assert member.name == "other"
