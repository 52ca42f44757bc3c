"""The twin's folder: private, one twin at a time, and what a killed one left is not believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from windlass.errors import HomeUnusable
from windlass.twin.server.files import write_if_changed, write_private
from windlass.twin.server.home import Options, TwinHome, birth, is_process

HOLDER = """
import sys
from pathlib import Path
from windlass.twin.server.home import Options, TwinHome
home = TwinHome(Path(sys.argv[1]))
print(home.take(), flush=True)
home.announce(4321, Options(speed=60.0), version="9")
print("announced", flush=True)
input()
"""


@pytest.fixture
def home(tmp_path) -> TwinHome:
    home = TwinHome(tmp_path / "twin")
    home.make()
    return home


@pytest.fixture
def holder(home):
    """A process that holds the folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "True\n"
        assert process.stdout.readline() == "announced\n"
        yield process
        process.kill()


def test_the_folder_is_its_owners_alone(home):
    assert home.path.stat().st_mode & 0o777 == 0o700
    home.token()
    assert (home.path / "token").stat().st_mode & 0o777 == 0o600


def test_the_token_is_made_once_and_differs_between_homes(home, tmp_path):
    other = TwinHome(tmp_path / "other")
    other.make()
    assert home.token() == home.token()
    assert len(home.token()) > 40
    assert home.token() != other.token()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeUnusable):
        TwinHome(tmp_path / "file" / "twin").make()


def test_a_running_twin_is_found_and_keeps_others_out(home, holder):
    running = home.running()
    assert (running.pid, running.port, running.version) == (holder.pid, 4321, "9")
    assert running.options == Options(speed=60.0)
    assert running.url == "http://127.0.0.1:4321"
    assert not home.take()


def test_a_killed_twin_is_gone_at_once_and_remembered(home, holder):
    holder.kill()
    holder.wait()
    assert home.running() is None
    assert home.last().port == 4321
    assert home.take()
    home.release()


def test_a_file_of_another_process_of_the_same_number_is_not_believed(home, holder):
    path = home.path / "twin.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "began": document["began"] + 1}))
    assert home.running() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "{}"])
def test_a_damaged_file_means_that_nothing_is_known(home, text):
    (home.path / "twin.json").write_text(text)
    assert home.last() is None
    assert home.running() is None


def test_a_process_is_told_from_a_later_one_of_its_number():
    assert is_process(os.getpid(), birth(os.getpid()))
    assert not is_process(os.getpid(), birth(os.getpid()) + 1)
    assert not is_process(2**22 + 1, 0.0)


def test_files_are_put_in_place_whole_and_only_when_they_change(tmp_path):
    path = tmp_path / "file"
    write_if_changed(path, "one", mode=0o700)
    assert path.stat().st_mode & 0o777 == 0o700
    before = path.stat().st_ino
    write_if_changed(path, "one")
    assert path.stat().st_ino == before
    write_private(path, b"two")
    assert (path.read_text(), path.stat().st_ino != before) == ("two", True)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
