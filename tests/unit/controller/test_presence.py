"""One controller per home: its lock, its pipe, and who may look at them."""

from __future__ import annotations

import os
import signal

import pytest

from windlass.controller.presence import LOCK, Presence


@pytest.fixture
def presence(tmp_path):
    presence = Presence(tmp_path)
    yield presence
    presence.release()


def test_nobody_is_there_at_first(presence):
    assert not presence.is_alive()
    assert not presence.wake()
    assert presence.process_id() is None


def test_the_first_is_the_controller_until_it_lets_go(presence, tmp_path):
    other = Presence(tmp_path)
    assert presence.take()
    assert not other.take()
    assert other.is_alive()
    assert other.process_id() == os.getpid()
    presence.release()
    presence.release()
    assert not other.is_alive()
    assert other.process_id() is None
    assert other.take()
    other.release()


def test_the_lock_of_a_dead_controller_is_free(presence, tmp_path):
    child = os.fork()
    if child == 0:
        Presence(tmp_path).take()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert (tmp_path / LOCK).read_text() == f"{child}\n"
    assert not presence.is_alive()
    assert presence.take()


def test_looking_whether_there_is_a_controller_keeps_nobody_from_becoming_it(presence, tmp_path):
    presence.take()
    presence.release()
    lookers = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            while True:
                Presence(tmp_path).is_alive()
        lookers.append(child)
    try:
        taken = []
        for _ in range(500):
            taken.append(presence.take())
            presence.release()
    finally:
        for child in lookers:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert all(taken)


@pytest.mark.parametrize("text", ["", "nonsense\n"])
def test_a_lock_that_names_nobody_is_still_a_lock(presence, tmp_path, text):
    presence.take()
    (tmp_path / LOCK).write_text(text)
    assert presence.is_alive()
    assert presence.process_id() is None


# ---- the pipe ------------------------------------------------------------------------------------


def test_a_wake_up_arrives_with_its_text(presence):
    pipe = presence.open_pipe()
    assert presence.wake("r-1-0")
    assert presence.wake()
    assert os.read(pipe, 100) == b"r-1-0\n\n"
    os.close(pipe)


def test_a_pipe_that_nobody_reads_wakes_nobody(presence):
    os.close(presence.open_pipe())
    assert not presence.wake()


def test_a_pipe_full_of_wake_ups_is_awake(presence):
    pipe = presence.open_pipe()
    assert all(presence.wake("x" * 1000) for _ in range(200))
    os.close(pipe)


def test_a_plain_file_in_place_of_the_pipe_is_replaced(presence):
    presence.pipe.write_text("a copy of a home has this")
    pipe = presence.open_pipe()
    assert presence.pipe.is_fifo()
    assert presence.wake()
    assert os.read(pipe, 100) == b"\n"
    os.close(pipe)


def test_the_pipe_of_an_earlier_controller_is_used_again(presence):
    os.close(presence.open_pipe())
    pipe = presence.open_pipe()
    assert presence.wake()
    os.close(pipe)


def test_a_home_may_have_a_long_path(tmp_path):
    home = tmp_path.joinpath(*["a-very-long-name" * 5] * 15)
    home.mkdir(parents=True)
    presence = Presence(home)
    assert presence.take()
    pipe = presence.open_pipe()
    assert presence.wake()
    os.close(pipe)
    presence.release()


# ---- starting one --------------------------------------------------------------------------------


def started(presence):
    starts = []
    presence.ensure(lambda: starts.append(1))
    return len(starts)


def test_a_controller_is_started_only_when_there_is_none(presence):
    assert started(presence) == 1
    presence.take()
    pipe = presence.open_pipe()
    assert started(presence) == 0
    assert os.read(pipe, 100) == b"\n", "it was woken instead"
    os.close(pipe)


HALF_THERE = {
    "its pipe was removed": lambda presence: presence.take() and None,
    "it has let go but still reads": lambda presence: presence.open_pipe(),
    "a plain file is there": lambda presence: presence.pipe.write_text("") and None,
}


@pytest.mark.parametrize("make", HALF_THERE.values(), ids=HALF_THERE)
def test_when_in_doubt_one_more_is_started_and_finds_out(presence, make):
    pipe = make(presence)
    assert started(presence) == 1
    if pipe:
        os.close(pipe)
