"""Programs that outlive us and programs that answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from gangs import is_alive, until
from windlass.ports.process import Processes

SH = "/bin/sh"


def spawned(processes, tmp_path, script, **env):
    output = tmp_path / "output"
    return processes.spawn([SH, "-c", script], env={"PATH": os.defpath, **env}, output=output)


def ended(processes, pid):
    until(lambda: processes.reap() or not is_alive(pid))


def test_a_spawned_program_has_a_session_of_its_own(tmp_path):
    processes = Processes()
    pid = spawned(processes, tmp_path, "sleep 60")
    try:
        assert until(lambda: os.getsid(pid) == pid and pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    ended(processes, pid)


def test_a_spawned_program_has_only_the_environment_it_was_given(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLER", "secret")
    processes = Processes()
    pid = spawned(processes, tmp_path, 'echo "[$CALLER] [$GIVEN]"', GIVEN="grüß dich")
    ended(processes, pid)
    assert (tmp_path / "output").read_text() == "[] [grüß dich]\n"


def test_output_of_a_spawned_program_is_added_to_and_private(tmp_path):
    processes = Processes()
    for word in ("one", "two"):
        ended(processes, spawned(processes, tmp_path, f"echo {word}; echo {word} >&2; cat"))
    path = tmp_path / "output"
    assert path.read_text() == "one\none\ntwo\ntwo\n"
    assert path.stat().st_mode & 0o077 == 0


def test_a_pipe_of_our_caller_is_not_held_open_by_a_spawned_program(tmp_path):
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    processes = Processes()
    pid = spawned(processes, tmp_path, "echo up; sleep 60")
    os.close(writer)
    try:
        until(lambda: (tmp_path / "output").read_text())
        os.set_blocking(reader, False)
        assert os.read(reader, 1) == b"", "whoever reads it sees its end"
    finally:
        os.close(reader)
        os.killpg(pid, signal.SIGKILL)
    ended(processes, pid)


def test_a_caller_without_standard_files_loses_no_output(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from windlass.ports.process import Processes;"
        "os.close(0); p = Processes();"
        "pid = p.spawn(['/bin/sh', '-c', 'cat; echo said'], env={}, output=Path(sys.argv[1]));"
        "os.waitpid(pid, 0)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "output")], check=True)
    assert (tmp_path / "output").read_text() == "said\n"


def test_a_spawned_program_goes_on_when_we_end(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from windlass.ports.process import Processes;"
        "print(Processes().spawn(['/bin/sh', '-c', 'exec sleep 60'],"
        " env=dict(os.environ), output=Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "output")],
        capture_output=True,
        text=True,
        check=True,
    )
    pid = int(done.stdout)
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_no_zombie_stays_behind(tmp_path):
    processes = Processes()
    pid = spawned(processes, tmp_path, "exit 3")
    until(lambda: not is_alive(pid))
    processes.reap()
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def test_a_program_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        Processes().spawn([str(tmp_path / "none")], env={}, output=tmp_path / "output")


def test_a_short_program_is_asked():
    answer = Processes().ask([SH, "-c", "echo said; echo warned >&2; exit 3"])
    assert (answer.status, answer.stdout, answer.stderr) == (3, "said\n", "warned\n")


def test_an_answer_that_is_no_text_is_still_an_answer():
    answer = Processes().ask([SH, "-c", r"printf 'a\377b'"])
    assert answer.stdout == "a\N{REPLACEMENT CHARACTER}b"


SILENT = {
    "not installed": (["windlass-has-no-such-program"], 10.0),
    "too slow": ([SH, "-c", "exec sleep 60"], 0.1),
    "not executable": (["/dev/null"], 10.0),
}


@pytest.mark.parametrize(("argv", "timeout_s"), SILENT.values(), ids=SILENT)
def test_whoever_does_not_answer_gives_none(argv, timeout_s):
    assert Processes().ask(argv, timeout_s=timeout_s) is None
