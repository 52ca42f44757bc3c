"""Marks of asks in runs' folders."""

from __future__ import annotations

import pytest

from buckets import HandClock
from windlass.agent.folder import DiskFolder
from windlass.engines.marks import Marks, claim_folder
from windlass.errors import EngineTransient


def marks(place, clock=None):
    return Marks(
        "spare", clock=clock or HandClock(5.0), open_folder=lambda url: DiskFolder(place / url)
    )


def test_a_claim_is_unasked_until_it_was_asked_for(tmp_path):
    mark = marks(tmp_path).of("r", 1, "r-1-0")
    assert not mark.is_asked
    mark.asked("operation-1")
    assert marks(tmp_path).of("r", 1, "r-1-0").is_asked


def test_a_mark_remembers_the_first_time(tmp_path):
    marks(tmp_path).of("r", 1, "r-1-0")
    assert marks(tmp_path, HandClock(99.0)).of("r", 1, "r-1-0").first_at == 5.0


def test_claims_have_marks_of_their_own(tmp_path):
    marks(tmp_path).of("r", 1, "r-1-0").asked("x")
    assert not marks(tmp_path).of("r", 1, "r-1-1").is_asked


def test_a_folder_that_cannot_be_written_is_tried_again_later(tmp_path):
    (tmp_path / "r").write_text("in the way")
    with pytest.raises(EngineTransient):
        marks(tmp_path).of("r", 1, "r-1-0")
    with pytest.raises(EngineTransient):
        marks(tmp_path).hurry("r")


def test_agents_find_that_they_are_to_hurry_in_the_claims_folder(tmp_path):
    marks(tmp_path).hurry(claim_folder("r", 1, "r-1-0"))
    assert (tmp_path / "r/attempts/1/r-1-0/hurry.json").exists()
