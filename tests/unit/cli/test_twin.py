"""`windlass twin`: started once, found by clients, killed and started again, emptied, stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from windlass.assemble import open_home
from windlass.twin.server.home import TwinHome

PROGRAM = [sys.executable, "-m", "windlass", "twin"]
FETCH = """
import json, os, ssl, sys, urllib.request
request = urllib.request.Request(
    "https://cloudresourcemanager.googleapis.com/v1/projects/twin-project",
    headers={"Authorization": "Bearer " + os.environ["CLOUDSDK_AUTH_ACCESS_TOKEN"]})
print(json.load(urllib.request.urlopen(request))["projectId"])
sys.exit(5)
"""


def call(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*PROGRAM, *words], capture_output=True, text=True, check=False, timeout=60, **options
    )


@pytest.fixture
def twin():
    """The twin's folder, and no twin in it afterwards."""
    home = TwinHome(open_home().path / "twin")
    yield home
    call("down")


def port_of(twin: TwinHome) -> int:
    return twin.running().port


def test_the_life_of_a_twin(windlass, twin):
    first = windlass("twin", "up", "--speed", "60")
    assert first.status == 0, first.err
    assert "The twin is up on 127.0.0.1:" in first.out
    again = windlass("twin", "up")
    assert (again.status, "was up already" in again.out) == (0, True)
    changed = windlass("twin", "up", "--speed", "2")
    assert (changed.status, "--speed" in changed.err) == (2, True)

    status = windlass("twin", "status", "--json").document
    assert (status["up"], status["speed"], status["port"]) == (True, 60.0, port_of(twin))
    assert status["machines"] == {"live": 0, "modelled": 0}
    assert "60 times as fast" in windlass("twin", "status").out

    assert windlass("twin", "gcloud-config").out == f"{twin.gcloud}\n"
    found = windlass("twin", "env", "--shell", "json").document
    assert found["set"]["CLOUDSDK_PROXY_PORT"] == str(status["port"])

    assert windlass("twin", "down").out == "The twin is down.\n"
    assert windlass("twin", "down").out == "The twin was not up.\n"
    down = windlass("twin", "status", "--json")
    assert (down.status, down.document["up"]) == (3, False)
    assert windlass("twin", "up").status == 0
    assert port_of(twin) == status["port"], "shells of before go on"


def test_a_program_talks_to_the_twin_and_its_exit_status_is_passed_on(windlass, twin):
    assert windlass("twin", "up").status == 0
    done = call("exec", "--", sys.executable, "-c", FETCH)
    assert (done.returncode, done.stdout) == (5, "twin-project\n"), done.stderr
    missing = call("exec", "--", "no-such-program")
    assert (missing.returncode, "error[tool-missing]" in missing.stderr) == (3, True)
    assert call("exec").returncode == 2


def test_ctrl_c_is_the_programs_own(windlass, twin):
    assert windlass("twin", "up").status == 0
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(30)\n"
    )
    with subprocess.Popen(
        [*PROGRAM, "exec", "--", sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 9
    assert windlass("twin", "status").status == 0, "the twin goes on"


def test_a_shell_is_marked_and_wins_over_the_users_own_settings(windlass, twin, tmp_path):
    assert windlass("twin", "up").status == 0
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("export CLOUDSDK_CONFIG=/real\nPS1='$ '\n")
    done = call(
        "shell",
        input='echo "prompt:$PS1" "config:$CLOUDSDK_CONFIG"; exit 6\n',
        env={**os.environ, "SHELL": "/bin/bash", "HOME": str(home)},
    )
    assert done.returncode == 6
    assert f"prompt:(twin) $  config:{twin.gcloud}" in done.stdout


@pytest.mark.parametrize("words", [["exec", "--", "true"], ["shell"], ["env"], ["gcloud-config"]])
def test_without_a_twin_nothing_is_started(words):
    done = call(*words)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "error[twin-not-up]" in done.stderr
    assert "windlass twin up" in done.stderr


def test_a_killed_twin_is_started_again_with_everything_it_had(windlass, twin):
    assert windlass("twin", "up").status == 0
    before = twin.running()
    os.kill(before.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while twin.running() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert windlass("twin", "status").status == 3
    assert windlass("twin", "up").status == 0
    after = twin.running()
    assert (after.port, after.pid != before.pid) == (before.port, True)


def test_of_two_that_start_it_at_once_one_does(twin):
    starting = [
        subprocess.Popen(
            [*PROGRAM, "up"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60)[0] for process in starting]
    assert [process.returncode for process in starting] == [0, 0, 0]
    assert sorted("was up already" in text for text in said) == [False, True, True]
    assert twin.log.read_text().count("up on 127.0.0.1") == 1


def test_a_second_twin_process_is_kept_out(windlass, twin):
    assert windlass("twin", "up").status == 0
    done = subprocess.run(
        [sys.executable, "-m", "windlass.twin.server.main", "--home", str(twin.path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, "another twin has" in done.stderr) == (3, True)


def test_a_port_that_is_taken_is_refused(windlass, twin):
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = windlass("twin", "up", "--port", str(other.getsockname()[1]), "--json")
    assert result.status == 3
    assert json.loads(result.err)["error"]["code"] == "twin-port-taken"


def test_a_twin_that_cannot_come_up_says_why(windlass, twin):
    twin.make()
    twin.database.write_bytes(b"this is no database, and long enough to be looked at" * 30)
    result = windlass("twin", "up")
    assert result.status == 3
    assert "error[twin-failed]" in result.err
    assert "not a database" in result.err, "the end of its log is shown"


def test_it_is_emptied_only_on_purpose_and_goes_on(windlass, twin):
    assert windlass("twin", "up", "--seed", "3").status == 0
    port, token = port_of(twin), twin.token()
    kept = twin.objects / "something"
    kept.write_text("x")
    refused = windlass("twin", "reset")
    assert (refused.status, kept.exists()) == (2, True)
    assert windlass("twin", "reset", "--yes").out == "The twin is empty.\n"
    assert not kept.exists()
    running = twin.running()
    assert (running.port, twin.token(), running.options.seed) == (port, token, 3)


def test_in_the_foreground_it_ends_with_ctrl_c(twin):
    with subprocess.Popen(
        [*PROGRAM, "up", "--foreground"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline().startswith("up on 127.0.0.1:")
        assert twin.running().pid == process.pid
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    assert twin.running() is None


def test_calls_are_recorded_without_tokens(windlass, twin, tmp_path):
    record = tmp_path / "calls.jsonl"
    assert windlass("twin", "up", "--record", str(record)).status == 0
    assert call("exec", "--", sys.executable, "-c", FETCH).returncode == 5
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["cloudresourcemanager.projects.get"]
    assert lines[0]["response"]["projectId"] == "twin-project"
    assert twin.token() not in record.read_text()


def test_a_stranger_is_told_nothing(windlass, twin):
    assert windlass("twin", "up").status == 0
    with socket.create_connection(("127.0.0.1", port_of(twin)), timeout=10) as client:
        client.sendall(b"GET /twin/v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")
def test_the_folder_of_the_command_may_go(windlass, twin, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    assert call("up", cwd=folder).returncode == 0
    assert Path(f"/proc/{twin.running().pid}/cwd").resolve() == twin.path
