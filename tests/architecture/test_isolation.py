"""The guards of conftest.py really stop what they are there to stop."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import isolation

SLEEPER = [sys.executable, "-c", "print(flush=True); input()"]


@pytest.fixture
def sleeper(tmp_path):
    """A process that a careless test would leave behind."""
    with subprocess.Popen(
        [*SLEEPER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        (b"localhost", True),
        (None, True),
        ("0.0.0.1", False),
        ("10.0.0.1", False),
        ("metadata.google.internal", False),
        ("localhost.example.com", False),
    ],
)
def test_only_loopback_counts_as_local(host, expected):
    assert isolation.is_local(host) is expected


def test_connecting_beyond_loopback_fails_the_test():
    with socket.socket() as client:
        with pytest.raises(pytest.fail.Exception, match="only loopback"):
            client.connect(("192.0.2.1", 80))
        with pytest.raises(pytest.fail.Exception, match="only loopback"):
            client.connect_ex(("192.0.2.1", 80))


def test_looking_a_name_up_fails_the_test():
    with pytest.raises(pytest.fail.Exception, match="only loopback"):
        socket.create_connection(("example.com", 80), timeout=1)


def test_loopback_and_unix_sockets_still_work(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))


def test_the_home_is_nobodys(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    assert Path(os.environ["WINDLASS_HOME"]).is_relative_to(base)
    assert Path.home().is_relative_to(base)
    assert not Path(os.environ["WINDLASS_HOME"]).exists()


def test_variables_of_the_callers_shell_are_forgotten(monkeypatch):
    monkeypatch.setenv("WINDLASS_RUN", "outer")
    monkeypatch.setenv("PGHOST", "db.example.com")
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WINDLASS_SEEDS", "7")
    isolation.clear_environment(keep=frozenset({"WINDLASS_SEEDS"}))
    assert "WINDLASS_RUN" not in os.environ
    assert "PGHOST" not in os.environ
    assert "RANK" not in os.environ
    assert os.environ["WINDLASS_SEEDS"] == "7"


@pytest.mark.skipif(not isolation.PROC.is_dir(), reason="this system has no /proc")
def test_a_process_left_behind_is_found_and_killed(sleeper, tmp_path):
    left = isolation.end_left_behind((str(tmp_path),), {}, patience_s=0.1)
    assert [process.pid for process in left] == [sleeper.pid]
    assert str(tmp_path) in left[0].command
    assert sleeper.wait(timeout=10) == -9


@pytest.mark.skipif(not isolation.PROC.is_dir(), reason="this system has no /proc")
def test_a_process_is_found_by_its_environment_too(monkeypatch):
    mark = f"WINDLASS_TEST_MARK={os.getpid()}"
    monkeypatch.setenv(*mark.split("="))
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert list(isolation.processes_of((mark,))) == [process.pid]
        process.kill()


@pytest.mark.skipif(not isolation.PROC.is_dir(), reason="this system has no /proc")
def test_a_process_from_before_the_test_is_let_be(sleeper, tmp_path):
    needles = (str(tmp_path),)
    before = isolation.processes_of(needles)
    assert isolation.end_left_behind(needles, before, patience_s=0.1) == []
    assert sleeper.poll() is None


def test_a_child_of_a_process_from_before_is_let_be_and_a_new_one_is_not():
    server = isolation.Process(10, 1, 500, "server")
    worker = isolation.Process(11, 10, 600, "worker")
    stray = isolation.Process(12, 1, 600, "stray")
    reused = isolation.Process(10, 1, 999, "another of the same id")
    assert isolation.left_behind({10: server}, {10: server, 11: worker, 12: stray}) == [stray]
    assert isolation.left_behind({10: server}, {10: reused}) == [reused]
