"""Preparing a node: source and `setup`, once per node and content."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import tarfile
from pathlib import Path

import pytest

from gangs import Gang, until


def ship(gang: Gang, **files: str) -> None:
    """Put an archive into the run folder under the hash that the claim names."""
    data = archive(**files)
    (gang.folder / f"source-{hashlib.sha256(data).hexdigest()}.tar").write_bytes(data)


def archive(**files: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def sha(**files: str) -> str:
    return hashlib.sha256(archive(**files)).hexdigest()


SETUP = "echo setting up; echo made >> made; echo x >> ../../setups"


def test_setup_runs_once_for_several_attempts_with_the_same_content(tmp_path: Path) -> None:
    files = {"data": "from the archive\n"}
    for attempt in (1, 2):
        gang = Gang(
            tmp_path, attempt=attempt, source=sha(**files), setup=SETUP, command="cat data made"
        )
        ship(gang, **files)
        gang.start()
        gang.wait()
        assert gang.log() == "from the archive\nmade\n"
        assert gang.setup_log() == ("setting up\n" if attempt == 1 else "")
    assert (tmp_path / "work of node 0" / "setups").read_text() == "x\n"


def test_another_setup_starts_from_a_folder_of_its_own(tmp_path: Path) -> None:
    for attempt in (1, 2):
        setup = f"echo {attempt} > made"
        gang = Gang(tmp_path, attempt=attempt, setup=setup, command="cat made")
        gang.start()
        gang.wait()
        assert gang.log() == f"{attempt}\n"


def test_a_failed_setup_ends_the_gang_and_starts_over_from_fresh_sources(tmp_path: Path) -> None:
    files = {"data": "d"}
    setup = "test ! -e dirt || exit 9; touch dirt; test -e ../../second || exit 5"
    gang = Gang(tmp_path, source=sha(**files), setup=setup, command="echo ran")
    ship(gang, **files)
    gang.start()
    gang.wait()
    said = gang.exit()
    assert said is not None
    assert (said["outcome"], said["status"]) == ("user-error", 5)
    assert said["reason"] == "setup failed with exit status 5"
    assert gang.log() == ""
    (tmp_path / "work of node 0" / "second").touch()
    again = Gang(tmp_path, attempt=2, source=sha(**files), setup=setup, command="echo ran")
    again.start()
    again.wait()
    assert again.log() == "ran\n"


def test_a_killed_setup_is_not_taken_for_a_finished_one(tmp_path: Path) -> None:
    setup = "test ! -e half || exit 9; touch half; test -e ../../second || sleep 1000; touch whole"
    gang = Gang(tmp_path, setup=setup, command="ls")
    gang.start()
    work = tmp_path / "work of node 0"
    until(lambda: list(work.glob("*/src/half")))
    os.kill(gang.agent_pid(), signal.SIGKILL)
    gang.wait()
    (work / "second").touch()
    again = Gang(tmp_path, attempt=2, setup=setup, command="ls")
    again.start()
    again.wait()
    assert again.log() == "half\nwhole\n"


def test_stopping_during_setup_stops_setup(tmp_path: Path) -> None:
    gang = Gang(tmp_path, setup="echo up; sleep 1000", command="echo ran", notice_s=0.2)
    gang.start()
    until(gang.setup_log)
    gang.signal(signal.SIGTERM)
    gang.wait(10)
    said = gang.exit()
    assert said is not None and said["outcome"] == "stopped"
    assert gang.log() == ""


REFUSED = {
    "missing": (lambda gang: None, "it is not in the run folder"),
    "changed": (
        lambda gang: (gang.folder / f"source-{sha(a='1')}.tar").write_bytes(archive(a="2")),
        "its SHA-256 is",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_source_that_is_not_right_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    put, reason = REFUSED[case]
    gang = Gang(tmp_path, source=sha(a="1"), command="echo ran")
    put(gang)
    gang.start()
    gang.wait()
    said = gang.exit()
    assert said is not None and said["outcome"] == "user-error"
    assert said["reason"] == "unpacking the source failed with exit status 1"
    assert reason in gang.setup_log()
    assert gang.log() == ""


def test_without_a_source_ranks_start_in_an_empty_folder(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="ls -A")
    gang.start()
    gang.wait()
    assert gang.log() == ""
    said = gang.exit()
    assert said is not None and said["outcome"] == "succeeded"
