"""Files are written in numbered stretches, published once, and read back verified."""

from __future__ import annotations

import pytest

from windlass.runtime.checkpoint import files
from windlass.runtime.checkpoint.disk import DiskPlace
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.files import DataWriter


def writer(folder, bytes_max=10):
    return DataWriter(DiskPlace(folder), "a1-w0-ff", algorithm="crc32", bytes_max=bytes_max)


def test_blocks_go_into_files_of_bounded_size(tmp_path):
    data = writer(tmp_path)
    places = [data.add(memoryview(block)) for block in (b"12345", b"67890", b"x", b"123456789")]
    data.finish()
    assert places == [
        ("a1-w0-ff-0001.bin", 0),
        ("a1-w0-ff-0001.bin", 5),
        ("a1-w0-ff-0002.bin", 0),
        ("a1-w0-ff-0002.bin", 1),
    ]
    contents = [
        bytes(files.read_verified(DiskPlace(tmp_path), entry, "crc32")) for entry in data.files
    ]
    assert contents == [b"1234567890", b"x123456789"]


def test_a_block_larger_than_a_file_gets_one_of_its_own(tmp_path):
    data = writer(tmp_path, bytes_max=2)
    assert data.add(memoryview(b"abcdef")) == ("a1-w0-ff-0001.bin", 0)
    assert data.add(memoryview(b"g")) == ("a1-w0-ff-0002.bin", 0)


def test_what_is_discarded_leaves_nothing(tmp_path):
    data = writer(tmp_path)
    for _ in range(3):
        data.add(memoryview(b"12345678"))
    data.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_name_is_published_once_and_whole(tmp_path):
    place = DiskPlace(tmp_path)
    assert place.publish("manifest.json", b"first", staged=".first")
    assert not place.publish("manifest.json", b"second", staged=".second")
    assert place.publish("manifest.json", b"first", staged=".again"), "our own link, reply lost"
    assert place.read("manifest.json") == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"123", "another size"), (b"1235", "other bytes"), (None, "is missing")],
    ids=["truncated", "flipped", "gone"],
)
def test_bytes_that_were_not_written_are_not_read(tmp_path, content, reason):
    data = writer(tmp_path)
    name, _ = data.add(memoryview(b"1234"))
    data.finish()
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Damage, match=reason):
        files.read_verified(DiskPlace(tmp_path), data.files[0], "crc32")
