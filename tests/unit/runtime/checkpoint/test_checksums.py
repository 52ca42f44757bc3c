"""Algorithms go by name, and an unknown name is refused."""

from __future__ import annotations

import zlib

import pytest

from windlass.runtime import CheckpointRefused
from windlass.runtime.checkpoint.checksums import ALGORITHMS, checksum


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_pieces_have_the_checksum_of_the_whole(name):
    whole, pieces = checksum(name), checksum(name)
    whole.update(memoryview(b"windlass"))
    pieces.update(memoryview(b"wind"))
    pieces.update(memoryview(b"lass"))
    assert whole.hexdigest() == pieces.hexdigest() != checksum(name).hexdigest()


def test_crc32_is_the_one_everybody_has():
    seen = checksum("crc32")
    seen.update(memoryview(b"windlass"))
    assert int(seen.hexdigest(), 16) == zlib.crc32(b"windlass")


def test_an_unknown_algorithm_is_refused_by_name():
    with pytest.raises(CheckpointRefused, match="'md99' is not known") as caught:
        checksum("md99")
    assert "sha256" in caught.value.remedy
