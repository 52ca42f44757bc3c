"""Root inside a machine is root of nothing else."""

from __future__ import annotations

import os
import platform
import signal
import socket
import struct
from pathlib import Path

import pytest

from windlass.twin.machines import cgroups, confine

# What each attempt of root's must not do; all of them have to fail.
ATTEMPTS = {
    "mount a file system": "mount -t tmpfs none /mnt",
    "mount a disk": "mknod /tmp/disk b 8 0 && mount /tmp/disk /mnt",
    "make a block device": "mknod /tmp/disk b 8 0",
    "make a character device": "mknod /tmp/mem c 1 1",
    "remount the kernel's settings": "mount -o remount,rw /proc/sys",
    "change a setting of the kernel": "echo 1 > /proc/sys/kernel/panic",
    "press a magic key": "echo h > /proc/sysrq-trigger",
    "enter a user namespace": "unshare -U true",
    "enter a mount namespace": "unshare -m true",
    "leave through a namespace": "nsenter -t 1 -m true",
    "set the clock": "date -s '2001-01-01'",
    "read the kernel's log": "dmesg",
    "read the kernel's memory": "test -s /proc/kcore && head -c 1 /proc/kcore | grep -q .",
    "change the host's null device": "chmod 600 /dev/null",
    "change the host's network": "ip link set lo down",
    "listen to the host's network": 'python3 -c "import socket; socket.socket(17, 3)"',
    "reach the hypervisor": 'python3 -c "import socket; socket.socket(40, 1)"',
    "raise its limit of core dumps": "ulimit -c 1000",
    "load a module": 'python3 -c "import ctypes; exit(ctypes.CDLL(None).syscall(313, 0, 0, 0) + 1)"'
    " && false",
}


@pytest.fixture(scope="module")
def cell(farm):
    farm.start("cell")
    yield "cell"
    farm.machines.delete("cell")


@pytest.mark.parametrize("what", ATTEMPTS)
def test_root_of_a_machine_cannot(farm, cell, what):
    done = farm.machines.run(cell, ATTEMPTS[what])
    assert done.status != 0, done
    assert os.access("/dev/null", os.R_OK | os.W_OK)


def test_no_process_of_the_host_is_in_sight_or_reach(farm, cell):
    pids = farm.ask(cell, "ls /proc | grep -x '[0-9]*' | wc -l")
    assert int(pids) < 10
    said = farm.ask(cell, f"kill -9 {os.getpid()} {os.getppid()} -1; echo still")
    assert os.getpid()
    assert farm.machines.is_alive(cell)
    assert "still" in said or said == ""


def test_root_of_a_machine_names_only_itself(farm, cell):
    before = socket.gethostname()
    farm.ask(cell, "hostname other 2>/dev/null; echo other > /etc/hostname")
    assert socket.gethostname() == before


def test_a_machine_cannot_reach_an_abstract_socket_of_the_hosts(farm, cell):
    """Linux 6.12 and later; before, these sockets belong to the network, which is shared."""
    if tuple(map(int, platform.release().split(".")[:2])) < (6, 12):
        pytest.skip("needs Linux 6.12")
    name = f"windlass-{os.getpid()}"
    code = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        done = farm.machines.run(cell, f'python3 -c "{code}"')
    assert b"not permitted" in done.stderr


def test_a_machine_may_not_have_processes_without_end(farm):
    group = cgroups.make(f"test-{os.getpid()}", 1)
    cgroups.remove(group)
    if group is None:
        pytest.skip("no control groups for us here")
    script = b"for i in $(seq 100); do sleep 7777 & done; echo over; wait"
    farm.start("bomb", startup_script=script, processes_max=30)
    farm.says("bomb", "Resource temporarily unavailable")
    farm.machines.kill("bomb")
    assert not farm.machines.is_alive("bomb")
    farm.machines.delete("bomb")


def test_what_init_asks_the_kernel_is_what_a_machine_has(farm, cell):
    status = farm.ask(cell, "cat /proc/self/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    allowed = sum(1 << number for number in confine.KEPT_CAPABILITIES)
    for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh"):
        assert int(fields[name], 16) & ~allowed == 0
    assert fields["Seccomp"] == "2"


@pytest.mark.parametrize("machine", confine.ARCHITECTURES)
def test_a_filter_is_a_program_whose_jumps_stay_inside(machine):
    program = confine.filter_program(machine)
    steps = [struct.unpack("HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    for at, (code, yes, no, _) in enumerate(steps):
        if code & 7 == 5:
            assert at + 1 + max(yes, no) < len(steps)
    assert steps[-1][0] == 6


def test_an_unknown_processor_has_no_machines():
    with pytest.raises(confine.UnknownProcessor, match="riscv64"):
        confine.filter_program("riscv64")


def test_signals_of_the_host_are_not_a_machines_to_send(farm, cell):
    received = []
    before = signal.signal(signal.SIGUSR1, lambda *_: received.append(1))
    try:
        farm.ask(cell, f"kill -USR1 {os.getpid()}; kill -USR1 -1")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert received == []
    assert Path("/proc/self").exists()
