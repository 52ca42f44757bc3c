"""The checkpointer as a training loop uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from windlass.runtime import Checkpointer, CheckpointRefused, Options

LOOP = """
import numpy as np
from windlass.runtime import Checkpointer, progress
checkpoints = Checkpointer()
found = checkpoints.restore()
start = 0 if found is None else found.step
for step in range(start, start + 2):
    progress(step + 1, loss=1.0)
    checkpoints.save(step + 1, {"w": np.zeros(3), "step": step + 1})
"""


def test_a_step_is_saved_once(tmp_path):
    checkpoints = Checkpointer(tmp_path)
    assert checkpoints.save(3, {"w": np.ones(2)}) is True
    assert checkpoints.save(3, {"w": np.zeros(2)}) is False
    assert Checkpointer(tmp_path).save(np.int64(3), {"w": np.zeros(2)}) is False
    assert checkpoints.restore().state["w"].tolist() == [1, 1]
    assert (checkpoints.steps(), checkpoints.latest()) == ([3], 3)


def test_other_ranks_do_not_write(tmp_path, monkeypatch):
    monkeypatch.setenv("WINDLASS_RANK", "1")
    monkeypatch.setenv("WINDLASS_RANKS", "2")
    checkpoints = Checkpointer(tmp_path / "c", every_s=0.0)
    assert checkpoints.save(1, {"not": object()}) is False
    assert not (tmp_path / "c").exists()


def test_the_spec_says_where_how_often_and_how_many(tmp_path, monkeypatch):
    folder = tmp_path / "mit leer und ü"
    monkeypatch.setenv("WINDLASS_CHECKPOINT_TO", folder.as_uri())
    monkeypatch.setenv("WINDLASS_CHECKPOINT_EVERY_S", "1000")
    monkeypatch.setenv("WINDLASS_CHECKPOINT_KEEP", "1")
    checkpoints = Checkpointer()
    assert not checkpoints.due(1)
    for step in (1, 2):
        checkpoints.save(step, {})
    assert [path.name for path in folder.iterdir()] == ["2"]


def test_an_attempt_tells_the_report_where_it_went_on(tmp_path):
    def attempt(number):
        told = {
            "PYTHONPATH": ":".join(sys.path),
            "WINDLASS_ATTEMPT": number,
            "WINDLASS_FOLDER": str(tmp_path / number),
            "WINDLASS_CHECKPOINT_TO": str(tmp_path / "c"),
        }
        subprocess.run([sys.executable, "-c", LOOP], env=told, check=True, timeout=60)
        text = (tmp_path / number / "rank-0" / "progress.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def told(lines):
        return [(line.get("event"), line["step"]) for line in lines]

    first, second = attempt("1"), attempt("2")
    assert told(first) == [(None, 1), ("saved", 1), (None, 2), ("saved", 2)]
    assert told(second)[0] == ("restored", 2)
    assert told(second)[1:3] == [(None, 3), ("saved", 3)]
    assert all(line["seconds"] >= 0 for line in first if line.get("event") == "saved")
    next((tmp_path / "c" / "4").glob("*.bin")).unlink()
    third = attempt("3")
    assert told(third)[:2] == [("damaged", 4), ("restored", 3)]
    assert "missing" in third[0]["reason"]


def test_saves_are_due_by_time(tmp_path):
    checkpoints = Checkpointer(tmp_path, every_s=0.05)
    assert not checkpoints.due(1)
    time.sleep(0.06)
    assert checkpoints.due(2)
    checkpoints.save(2, {})
    assert not checkpoints.due(3)
    assert not Checkpointer(tmp_path).due(1), "automatic: not before the first 30 s"


def test_a_notice_makes_a_save_due_once(tmp_path, monkeypatch):
    path = tmp_path / "notice.json"
    path.write_text(json.dumps({"deadline": time.time() + 30, "seconds": 30, "reason": "spot"}))
    monkeypatch.setenv("WINDLASS_NOTICE", str(path))
    checkpoints = Checkpointer(tmp_path / "c", every_s=1000.0)
    assert checkpoints.due(1) and checkpoints.due(2)
    checkpoints.save(2, {})
    assert not checkpoints.due(3)


@pytest.mark.parametrize(
    "options",
    [
        {"keep": 0},
        {"options": Options(checksum="md99")},
        {"options": Options(file_bytes_max=0)},
        {"to": "gs://b/c"},
        {"to": ""},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(tmp_path, options):
    with pytest.raises(CheckpointRefused) as caught:
        Checkpointer(**{"to": tmp_path, **options})
    assert caught.value.remedy


def test_a_negative_step_is_refused(tmp_path):
    with pytest.raises(CheckpointRefused, match="step -1"):
        Checkpointer(tmp_path).save(-1, {})


def test_a_change_of_directory_does_not_move_checkpoints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkpoints = Checkpointer("c")
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    checkpoints.save(1, {})
    assert (tmp_path / "c" / "1" / "manifest.json").exists()
