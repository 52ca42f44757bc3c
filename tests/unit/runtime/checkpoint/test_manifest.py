"""A manifest comes back as it was written, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.runtime import CheckpointRefused
from windlass.runtime.checkpoint import manifest
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.manifest import DataFile, Manifest, Part, Piece, Tensor

PIECE = Piece(start=(0, 2), shape=(3, 4), file="a1-w0-0f-0001.bin", offset=8, nbytes=48)
SAMPLE = Manifest(
    step=7,
    attempt=1,
    run="größe",
    time=1.5,
    checksum="sha256",
    files=(DataFile("a1-w0-0f-0001.bin", 56, "ab" * 32),),
    tree=["dict", [["w", ["tensor", 0]], [3, ["str", "\ud800 lone"]]]],
    tensors=(Tensor("numpy", "float32", 4, (3, 6), (PIECE,)),),
)


def test_it_comes_back_as_it_was_written():
    assert manifest.decode(manifest.encode(SAMPLE)) == SAMPLE
    part = Part(2, SAMPLE.files, SAMPLE.tensors)
    assert manifest.decode_part(manifest.encode_part(part)) == part


@given(st.data())
def test_no_altered_byte_goes_unnoticed(data):
    content = bytearray(manifest.encode(SAMPLE))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        assert manifest.decode(bytes(content)) == SAMPLE  # White space may change.
    except Damage:
        pass


@given(st.integers(0, len(manifest.encode(SAMPLE)) - 2))
def test_no_cut_goes_unnoticed(length):
    with pytest.raises(Damage):
        manifest.decode(manifest.encode(SAMPLE)[:length])


@pytest.mark.parametrize("junk", [b"", b"null", b"[]", b"\x00" * 500, b"\xff\xfe", b"[" * 100_000])
def test_junk_is_damage(junk):
    with pytest.raises(Damage):
        manifest.decode(junk)


def test_a_newer_format_is_refused_and_not_taken_for_damage():
    newer = manifest._seal({**json.loads(manifest.encode(SAMPLE))["body"], "format": 2})
    with pytest.raises(CheckpointRefused, match="format 2; this Windlass reads 1"):
        manifest.decode(newer)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "manifest.json", "a1-w0.bin"])
def test_a_manifest_cannot_name_files_that_are_not_data(name):
    with pytest.raises(Damage, match="none of ours"):
        manifest.decode(manifest.encode(SAMPLE._replace(files=(DataFile(name, 1, "00"),))))
