"""A disk can be removed, whatever is on it."""

from __future__ import annotations

import os

from windlass.twin.machines import disposal

DEPTH = 3000


def test_a_folder_deeper_than_any_path_is_removed(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    at = os.open(disk, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("deep", dir_fd=at)
        inner = os.open("deep", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    disposal.remove(disk)
    assert not disk.exists()


def test_a_removal_that_was_cut_short_is_finished_by_the_next(tmp_path):
    disk = tmp_path / "disk"
    for name in ("a", ".gone-1", ".gone-2"):
        (disk / name / "full").mkdir(parents=True)
    disposal.remove(disk)
    assert not disk.exists()


def test_links_are_removed_and_not_followed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    disk = tmp_path / "disk"
    (disk / "a").mkdir(parents=True)
    (disk / "link").symlink_to(kept)
    (disk / "a" / "link").symlink_to(kept / "file")
    (disk / "a" / "closed").mkdir(mode=0)
    disposal.remove(disk)
    assert not disk.exists()
    assert (kept / "file").read_text() == "x"
