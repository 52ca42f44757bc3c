"""A torn, truncated, altered or missing file is found, and the checkpoint before it is used."""

from __future__ import annotations

import json
import logging
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.runtime import CheckpointDamaged, Checkpointer, CheckpointRefused, Options
from windlass.runtime.checkpoint import manifest, reading
from windlass.runtime.checkpoint.disk import DiskPlace

OPTIONS = Options(file_bytes_max=100)


def state_of(step):
    return {"w": np.full((5, 7), step, np.int32), "lr": step / 3, "name": f"step {step}", "n": step}


def same(left, right):
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)


def saved(folder, *steps):
    checkpoints = Checkpointer(folder, keep=10, options=OPTIONS)
    for step in steps:
        assert checkpoints.save(step, state_of(step))
    return checkpoints


def files_of(folder, step):
    return sorted(path for path in (folder / str(step)).iterdir())


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pristine")
    saved(folder, 10, 20)
    return folder


@given(st.data())
def test_no_flipped_byte_ever_reaches_the_program(pristine, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("flip") / "c"
    shutil.copytree(pristine, folder)
    path = data.draw(st.sampled_from(files_of(folder, 20)))
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    step, state = Checkpointer(folder).restore()
    assert same(state, state_of(step))
    assert step == 10 or path.name == manifest.NAME


@given(st.data())
def test_no_torn_or_missing_file_ever_reaches_the_program(pristine, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("torn") / "c"
    shutil.copytree(pristine, folder)
    path = data.draw(st.sampled_from(files_of(folder, 20)))
    content = path.read_bytes()
    length = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["cut", "zeroed", "gone", "grown"]))
    if how == "gone":
        path.unlink()
    else:
        rest = {"cut": b"", "zeroed": bytes(len(content) - length), "grown": content + b"\n"}
        path.write_bytes(content[:length] + rest[how])
    step, state = Checkpointer(folder).restore()
    assert same(state, state_of(step))
    assert step == 10 or path.read_bytes() == content or path.name == manifest.NAME


def test_falling_back_is_said_and_nothing_is_deleted(tmp_path, caplog):
    saved(tmp_path, 10, 20, 30)
    files_of(tmp_path, 30)[0].write_bytes(b"short")
    (tmp_path / "20" / manifest.NAME).write_bytes(b"")
    before = sorted(tmp_path.rglob("*"))
    with caplog.at_level(logging.WARNING, logger="windlass.runtime"):
        assert Checkpointer(tmp_path).restore().step == 10
    assert Checkpointer(tmp_path).latest() == 10
    assert [record.args[0] for record in caplog.records[:2]] == [30, 20]
    assert "another size" in caplog.records[0].getMessage()
    assert sorted(tmp_path.rglob("*")) == before


def test_when_none_is_whole_the_program_does_not_begin_again_by_itself(tmp_path):
    saved(tmp_path, 10, 20)
    for step in (10, 20):
        files_of(tmp_path, step)[0].unlink()
    for look in (Checkpointer(tmp_path).restore, Checkpointer(tmp_path).latest):
        with pytest.raises(CheckpointDamaged, match="Not one of the 2 checkpoints"):
            look()


def test_where_nothing_was_saved_there_is_none(tmp_path):
    assert Checkpointer(tmp_path / "nowhere").restore() is None
    (tmp_path / "7").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "007").mkdir()
    (tmp_path / "8").write_text("no folder")
    checkpoints = Checkpointer(tmp_path)
    assert (checkpoints.restore(), checkpoints.latest(), checkpoints.steps()) == (None, None, [])


def test_an_unknown_checksum_is_refused_and_not_taken_for_damage(tmp_path):
    saved(tmp_path, 10, 20)
    path = tmp_path / "20" / manifest.NAME
    body = json.loads(path.read_bytes())["body"]
    path.write_bytes(manifest._seal({**body, "checksum": "blake9"}))
    with pytest.raises(CheckpointRefused, match="'blake9' is not known"):
        Checkpointer(tmp_path).restore()


@pytest.mark.parametrize("algorithm", ["sha256", "crc32"])
def test_the_reader_follows_the_algorithm_that_the_manifest_names(tmp_path, algorithm):
    Checkpointer(tmp_path, options=Options(checksum=algorithm)).save(1, state_of(1))
    assert reading.read_manifest(DiskPlace(tmp_path / "1")).checksum == algorithm
    assert Checkpointer(tmp_path).restore().step == 1


def test_a_damaged_checkpoint_is_replaced_when_its_step_is_saved_again(tmp_path):
    saved(tmp_path, 10, 20)
    files_of(tmp_path, 20)[0].write_bytes(b"torn")
    checkpoints = Checkpointer(tmp_path)
    assert checkpoints.restore().step == 10
    assert checkpoints.save(20, state_of(20))
    assert Checkpointer(tmp_path).restore().step == 20


def test_a_damaged_checkpoint_that_nobody_restored_is_replaced_too(tmp_path):
    saved(tmp_path, 10)
    (tmp_path / "10" / manifest.NAME).write_bytes(b"")
    assert Checkpointer(tmp_path).save(10, state_of(10))
    assert Checkpointer(tmp_path).latest() == 10
