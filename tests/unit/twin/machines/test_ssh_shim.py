"""`ssh` and `scp` enter the machines of the twin, and leave other hosts to the real ones."""

from __future__ import annotations

import os
import pty
import subprocess
import time

import pytest

from windlass.twin.machines.ssh_door import SshDoor

MODELLED = "127.78.0.1"


@pytest.fixture(scope="module")
def address(farm):
    door = SshDoor(farm.home, farm.machines, is_modelled=lambda address: address == MODELLED)
    door.open()
    yield farm.start("vm", env={"PLACE": "inside"})
    door.close()
    farm.machines.delete("vm")


def _call(farm, *words, **options):
    real = farm.home / "real"
    real.mkdir(exist_ok=True)
    for name in ("ssh", "scp"):
        (real / name).write_text('#!/bin/sh\necho "the real one: $@"\n')
        (real / name).chmod(0o755)
    path = f"{farm.home / 'bin'}:{real}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    return subprocess.run(words, env=env, capture_output=True, timeout=30, **options)


def test_a_command_runs_inside_with_its_input_output_and_status(farm, address):
    words = ["ssh", "-T", "-o", "HostKeyAlias=compute.1", f"ada@{address}", "--"]
    command = "cat; echo $PLACE; whoami; hostname; pwd; echo oops >&2; exit 7"
    done = _call(farm, *words, command, input=b"given\n")
    assert done.returncode == 7
    assert done.stdout == b"given\ninside\nada\nvm\n/home/ada\n"
    assert done.stderr == b"oops\n"


def test_large_streams_go_both_ways(farm, address):
    content = os.urandom(4 << 20)
    done = _call(farm, "ssh", f"ada@{address}", "cat", input=content)
    assert done.stdout == content


def test_a_shell_without_a_command_reads_its_input(farm, address):
    done = _call(farm, "ssh", "-t", f"ada@{address}", input=b"echo $((6*7))\nexit 4\n")
    assert (done.returncode, done.stdout) == (4, b"42\n")


def test_a_terminal_is_given_where_there_is_one(farm, address):
    near, far = pty.openpty()
    path = f"{farm.home / 'bin'}:{os.environ['PATH']}"
    with subprocess.Popen(
        ["ssh", "-t", f"ada@{address}"],
        stdin=far,
        stdout=far,
        stderr=far,
        env={**os.environ, "PATH": path, "TERM": "vt100"},
        start_new_session=True,
    ) as child:
        os.close(far)
        os.write(near, b"tty; echo $TERM; exit 9\n")
        said = b""
        deadline = time.monotonic() + 20
        while child.poll() is None and time.monotonic() < deadline:
            try:
                said += os.read(near, 65536)
            except OSError:
                break
        assert child.wait(timeout=10) == 9
    os.close(near)
    assert b"/dev/pts/" in said
    assert b"vt100" in said


def test_a_modelled_machine_refuses_politely(farm, address):
    done = _call(farm, "ssh", f"ada@{MODELLED}", "id")
    assert done.returncode == 255
    assert b"models this machine without processes" in done.stderr


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "10.1.2.3"])
def test_other_hosts_are_left_to_the_real_ssh(farm, address, host):
    done = _call(farm, "ssh", "-v", f"ada@{host}", "id")
    assert done.stdout == f"the real one: -v ada@{host} id\n".encode()


def test_files_are_copied_in_and_out(farm, address, tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "file").write_text("content")
    (tmp_path / "one").write_text("1")
    copied = _call(farm, "scp", "-r", f"{tmp_path}/in", f"{tmp_path}/one", f"ada@{address}:")
    assert copied.returncode == 0, copied
    assert farm.ask("vm", "cat ~ada/in/deep/file ~ada/one; stat -c %U ~ada/one") == "content1ada\n"
    assert _call(farm, "scp", f"{tmp_path}/one", f"ada@{address}:/tmp/two").returncode == 0
    assert _call(farm, "scp", f"ada@{address}:/tmp/two", f"{tmp_path}/back").returncode == 0
    assert (tmp_path / "back").read_text() == "1"
    assert _call(farm, "scp", "-r", f"ada@{address}:in", f"{tmp_path}/again").returncode == 0
    assert (tmp_path / "again" / "deep" / "file").read_text() == "content"


def test_a_copy_that_cannot_be_says_why(farm, address, tmp_path):
    done = _call(farm, "scp", f"ada@{address}:/nowhere", str(tmp_path / "x"))
    assert done.returncode == 1
    assert b"/nowhere: No such file" in done.stderr
    assert not (tmp_path / "x").exists()
    done = _call(farm, "scp", str(tmp_path / "absent"), f"ada@{address}:")
    assert done.returncode == 255
    assert b"No such file" in done.stderr


def test_a_user_who_cannot_be_is_refused(farm, address):
    done = _call(farm, "ssh", f"daemon@{address}", "id")
    assert done.returncode == 255
    assert b"daemon is not a user who logs in" in done.stderr
