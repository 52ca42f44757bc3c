"""Checkpoints go where the user says, or the user hears why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.runtime import CheckpointRefused
from windlass.runtime.checkpoint.location import folder_of


def test_paths_and_file_urls_name_folders(tmp_path, monkeypatch):
    odd = tmp_path / "größe mit %20 und ?"
    monkeypatch.chdir(tmp_path)
    assert folder_of(str(odd)) == odd
    assert folder_of(odd) == odd
    assert folder_of(odd.as_uri()) == odd
    assert folder_of("ckpt") == tmp_path / "ckpt"
    assert folder_of("file:///a/b") == Path("/a/b")
    assert folder_of("gs://bucket/c d/") == "gs://bucket/c d"


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("", "Nobody said where"),
        ("s3://bucket/c", "cannot be written to s3://bucket/c"),
        ("gs:///c", "cannot be written to gs:///c"),
        ("gs://bucket//c", "cannot be written to gs://bucket//c"),
        ("gs://Bucket/c", "cannot be written to gs://Bucket/c"),
    ],
)
def test_what_is_no_folder_is_refused_with_a_remedy(to, message):
    with pytest.raises(CheckpointRefused, match=message) as caught:
        folder_of(to)
    assert caught.value.remedy
