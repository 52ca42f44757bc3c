"""Machines live, are told, die, and are found again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from windlass.twin.machines import client, records, sockets
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.plan import CannotStart, Plan

UP_MS_MAX = 150
MANY = 20


def test_a_startup_script_runs_and_speaks_on_the_console(farm):
    farm.start(
        "hello", env={"WHO": "world"}, startup_script=b'#!/bin/bash\necho "hello $WHO"\nexit 3\n'
    )
    farm.says("hello", "Finished running startup scripts.")
    text = farm.machines.console("hello").decode()
    assert "startup-script: hello world\n" in text
    assert "startup-script exit status 3" in text
    assert farm.machines.is_alive("hello")
    assert farm.machines.exited("hello") is None
    assert farm.machines.console("hello", len(text)) == b""
    farm.machines.delete("hello")


def test_a_machine_is_up_fast(farm, record_property):
    took = []
    for number in range(5):
        before = time.monotonic()
        farm.start(f"fast-{number}", startup_script=b"#!/bin/sh\necho first\n")
        farm.says(f"fast-{number}", "startup-script: first")
        took.append(1000 * (time.monotonic() - before))
        farm.machines.delete(f"fast-{number}")
    record_property("start to first line of the startup script, ms", f"{sorted(took)[2]:.0f}")
    # Three times what is asked of a quiet host: others may use this one too.
    assert sorted(took)[2] < 3 * UP_MS_MAX


def test_many_machines_run_at_once(farm, record_property):
    before = time.monotonic()
    for number in range(MANY):
        farm.start(f"many-{number}", startup_script=b"echo up; sleep 1000")
    for number in range(MANY):
        farm.says(f"many-{number}", "startup-script: up")
    record_property(f"{MANY} machines up, s", f"{time.monotonic() - before:.2f}")
    assert len(farm.machines.live()) == MANY
    for number in range(MANY):
        farm.machines.delete(f"many-{number}")
    assert farm.machines.live() == []


def test_a_command_ends_its_machine_with_its_status(farm):
    farm.start("replica", command=("sh", "-c", "echo $0 $1; exit 5", "one", "two"))
    assert farm.ends("replica") == 5
    assert farm.machines.console("replica").endswith(b"one two\n")
    farm.machines.delete("replica")


def test_a_command_that_is_not_there_ends_its_machine(farm):
    farm.start("absent", command=("no-such-program",))
    assert farm.ends("absent") == 127
    farm.machines.delete("absent")


def test_a_notice_runs_the_shutdown_script_then_ends_everything(farm):
    script = b"trap 'echo told; exit 0' TERM\necho up\nwhile :; do sleep 0.05; done\n"
    farm.start(
        "noticed", startup_script=script, shutdown_script=b"echo saving; sleep 0.3; echo saved\n"
    )
    farm.says("noticed", "startup-script: up")
    farm.machines.notice("noticed")
    farm.says("noticed", "shutdown-script: saving")
    assert farm.machines.is_alive("noticed")
    assert farm.ends("noticed") == 0
    text = farm.machines.console("noticed").decode()
    # As systemd does it: the script first, then SIGTERM to all that is left.
    assert text.index("shutdown-script: saved") < text.index("startup-script: told")
    farm.machines.notice("noticed")
    farm.machines.delete("noticed")


def test_a_kill_takes_the_whole_tree_at_once(farm):
    stubborn = b"(trap '' TERM INT HUP; setsid sleep 7777 &)"
    script = b"for i in 1 2 3; do " + stubborn + b"; done; echo up; sleep 7777"
    farm.start("doomed", startup_script=script, shutdown_script=b"echo never\n")
    farm.says("doomed", "startup-script: up")
    record = records.read(farm.machines.folder("doomed"))
    inside = sockets.namespace_of(record.init.pid)
    assert len(_processes_in(inside)) >= 5
    farm.machines.kill("doomed")
    assert _processes_in(inside) == []
    assert not farm.machines.is_alive("doomed")
    assert farm.machines.exited("doomed") == 137
    assert b"never" not in farm.machines.console("doomed")
    farm.machines.kill("doomed")
    farm.machines.delete("doomed")
    assert not farm.machines.folder("doomed").exists()


def _processes_in(namespace: str) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [pid for pid in pids if sockets.namespace_of(pid) == namespace]


def test_a_machine_does_not_outlive_its_supervisor(farm):
    farm.start("orphan", startup_script=b"echo up; sleep 7777")
    farm.says("orphan", "up")
    record = records.read(farm.machines.folder("orphan"))
    os.kill(record.supervisor.pid, signal.SIGKILL)
    assert farm.ends("orphan") == 137
    deadline = time.monotonic() + 5
    while records.is_running(record.init) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not records.is_running(record.init)
    farm.machines.delete("orphan")


def test_a_disk_outlives_a_stop(farm):
    farm.start(
        "kept",
        startup_script=b"echo mine > /etc/mine; rm /etc/debian_version /etc/os-release; echo done",
    )
    farm.says("kept", "startup-script: done")
    farm.machines.kill("kept")
    farm.start("kept", startup_script=b"cat /etc/mine; ls /etc/os-release 2>&1; echo again")
    farm.says("kept", "startup-script: again")
    text = farm.machines.console("kept").decode()
    assert "startup-script: mine" in text
    assert "No such file" in text
    with pytest.raises(CannotStart, match="runs already"):
        farm.start("kept")
    farm.machines.delete("kept")
    farm.start("kept", startup_script=b"ls /etc/mine 2>&1; echo fresh")
    farm.says("kept", "startup-script: fresh")
    assert b"No such file" in farm.machines.console("kept")
    farm.machines.delete("kept")


def test_a_later_twin_finds_its_machines_again(farm):
    code = (
        "import sys; from pathlib import Path\n"
        "from windlass.twin.machines.machines import Machines\n"
        "from windlass.twin.machines.plan import Plan\n"
        "Machines(Path(sys.argv[1])).start(Plan(id='found', hostname='found',"
        " address='127.77.1.1', startup_script=b'echo up; sleep 7777'))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(farm.home)], check=True, timeout=30)
    later = Machines(farm.home)
    assert later.live() == ["found"]
    assert later.at("127.77.1.1") == "found"
    assert later.at("127.77.1.2") is None
    assert later.run("found", "hostname").stdout == b"found\n"
    later.kill("found")
    assert later.exited("found") == 137
    later.delete("found")


def test_a_machine_can_power_itself_off_and_start_again(farm):
    script = b"""[ -e /var/seen ] || { touch /var/seen; echo first; sudo reboot; sleep 60; }
echo second
sudo shutdown -h now
"""
    farm.start("power", startup_script=script)
    assert farm.ends("power") == 0
    text = farm.machines.console("power").decode()
    assert text.index("startup-script: first") < text.index("Rebooting.")
    assert text.index("Rebooting.") < text.index("startup-script: second")
    assert text.rstrip().endswith("Powering off.")
    farm.machines.delete("power")


def test_the_far_end_of_a_connection_is_known(farm):
    """The metadata server tells by this who asks."""
    farm.start("near", startup_script=b"")
    farm.start("other", startup_script=b"")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3"
        with farm.machines.reach("near") as sock:
            session = client.spawn(sock, ["bash", "-c", command], user="someone")
            accepted, peer = server.accept()
            with accepted:
                local = accepted.getsockname()
                assert farm.machines.owns_socket("near", peer, local)
                assert not farm.machines.owns_socket("other", peer, local)
            assert client.finish(session, b"").status == 0
        with socket.create_connection(("127.0.0.1", port)):
            accepted, peer = server.accept()
            with accepted:
                assert farm.machines.owner(peer, accepted.getsockname()) is None
    farm.machines.delete("near")
    farm.machines.delete("other")


def test_machines_talk_to_each_other_by_address(farm):
    code = (
        "import socket,sys; s=socket.create_server((sys.argv[1],7700)); print('up',flush=True); "
        "s.accept()[0].sendall(b'hi'); "
    )
    address = farm.start("listener")
    with farm.machines.reach("listener") as sock:
        session = client.spawn(sock, ["python3", "-c", code, address], user="root")
        assert os.read(session.near[1], 10) == b"up\n"
        farm.start("caller", files={"/etc/hosts": f"{address} listener\n".encode()})
        said = farm.ask("caller", "exec 3<>/dev/tcp/listener/7700; cat <&3")
        assert said == "hi"
        assert client.finish(session, b"").status == 0
    farm.machines.delete("listener")
    farm.machines.delete("caller")


@pytest.mark.parametrize("name", ["", "..", ".", "../x", "a/b", "/etc", "a\0b", ".hidden"])
def test_no_name_leads_out_of_the_home(farm, name):
    with pytest.raises(CannotStart):
        farm.machines.folder(name)
    with pytest.raises(CannotStart):
        farm.start(name)


def test_where_machines_cannot_run_nothing_is_started(tmp_path):
    """A home that cannot hold an overlay's upper side; the reason is kept and said."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "machines").mkdir()
    machines = Machines(home)
    (home / "machines" / f"probe-{os.getpid()}").mkdir()
    (home / "machines" / f"probe-{os.getpid()}" / "layers.json").write_text("[]")
    assert not machines.can_run()
    assert "overlay" in machines.refusal()
    with pytest.raises(CannotStart):
        machines.start(Plan(id="x", hostname="x", address="127.77.2.1"))
    assert machines.live() == []
