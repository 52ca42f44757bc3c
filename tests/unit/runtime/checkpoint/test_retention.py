"""The newest whole checkpoints stay; what earlier attempts left half written goes."""

from __future__ import annotations

import os

import numpy as np
import pytest

from windlass.runtime import Checkpointer
from windlass.runtime.checkpoint import manifest
from windlass.runtime.checkpoint.retention import STALE_S


@pytest.fixture
def attempt(monkeypatch):
    def checkpointer(number, folder, **options):
        monkeypatch.setenv("WINDLASS_ATTEMPT", str(number))
        return Checkpointer(folder, **options)

    return checkpointer


def state(step):
    return {"w": np.full(10, step)}


def spoil(folder, step):
    next((folder / str(step)).glob("*.bin")).write_bytes(b"torn")


def test_only_the_newest_stay(tmp_path):
    checkpoints = Checkpointer(tmp_path, keep=2)
    for step in (1, 5, 10, 100):
        checkpoints.save(step, state(step))
    assert checkpoints.steps() == [10, 100]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["10", "100"]


def test_a_damaged_one_does_not_count_as_kept(tmp_path):
    checkpoints = Checkpointer(tmp_path, keep=2)
    for step in (1, 2):
        checkpoints.save(step, state(step))
    spoil(tmp_path, 2)
    checkpoints.save(3, state(3))
    assert checkpoints.steps() == [1, 2, 3]
    checkpoints.save(4, state(4))
    assert checkpoints.steps() == [3, 4]


def test_removing_a_damaged_one_is_said(tmp_path, caplog):
    checkpoints = Checkpointer(tmp_path, keep=1)
    checkpoints.save(1, state(1))
    Checkpointer(tmp_path, keep=5).save(2, state(2))
    spoil(tmp_path, 2)
    assert checkpoints.latest() == 1
    checkpoints.save(3, state(3))
    assert checkpoints.steps() == [3]
    assert "removing the damaged checkpoint of step 2" in caplog.text


def test_neither_the_newest_nor_the_one_just_saved_is_removed(tmp_path):
    Checkpointer(tmp_path, keep=5).save(100, state(100))
    earlier = Checkpointer(tmp_path, keep=1)
    earlier.save(50, state(50))
    assert earlier.steps() == [50, 100]


def test_leftovers_of_earlier_attempts_are_swept_and_later_ones_left_alone(tmp_path, attempt):
    for name in ("a1-w0-aa-0001.bin", "part-a1-w1.json", ".manifest-a1-aa", "a3-w0-cc-0001.bin"):
        (tmp_path / "5").mkdir(exist_ok=True)
        (tmp_path / "5" / name).write_bytes(b"half")
    (tmp_path / "6").mkdir()
    (tmp_path / "6" / "a1-w0-bb-0001.bin").write_bytes(b"half")
    (tmp_path / "6" / "notes.txt").write_bytes(b"the user's")
    attempt(2, tmp_path).save(5, state(5))
    left = {path.name for path in (tmp_path / "5").iterdir()} - {manifest.NAME}
    assert sorted(name[:3] for name in left) == ["a2-", "a3-"]
    assert [path.name for path in (tmp_path / "6").iterdir()] == ["notes.txt"]


def test_a_file_of_our_own_number_is_swept_only_when_it_is_old(tmp_path):
    (tmp_path / "5").mkdir()
    fresh, old = tmp_path / "5" / "a0-w0-aa-0001.bin", tmp_path / "5" / "a0-w0-bb-0001.bin"
    for path in (fresh, old):
        path.write_bytes(b"half")
    os.utime(old, (0, old.stat().st_mtime - STALE_S - 60))
    Checkpointer(tmp_path).save(6, state(6))
    assert fresh.exists() and not old.exists()


def test_files_beside_a_manifest_that_cannot_be_read_stay(tmp_path, attempt):
    attempt(1, tmp_path).save(5, state(5))
    (tmp_path / "5" / manifest.NAME).write_bytes(b"torn")
    attempt(2, tmp_path).save(6, state(6))
    assert list((tmp_path / "5").glob("a1-*.bin"))
