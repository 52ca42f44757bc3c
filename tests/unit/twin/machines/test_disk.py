"""Nothing that a machine does to its files reaches the host's."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

import tree
from patience import wait_until
from windlass.twin.machines import layout
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.plan import Plan

# It looks twice where it is, as this is run by people on hosts that they like.
REMOVE_ALL = b"""#!/bin/bash
[ "$(hostname)" = doomed ] && [ "$(stat -f -c %T /)" = overlayfs ] || exit 1
[ -e /run/windlass-twin/plan.json ] && [ $$ -lt 100 ] || exit 1
exec 2>/dev/null
echo going
rm -rf --no-preserve-root /
echo gone
"""


def _large() -> list[Path]:
    """Hidden from that machine only because there is so much to remove in them."""
    shared = ("/usr/share", "/usr/src", "/usr/include", "/usr/lib/google-cloud-sdk", "/opt")
    packages = Path(sys.base_prefix).glob("lib/python3*/*-packages")
    return [tree.ROOT.parent, *map(Path, shared), *packages, *_beside_python(Path.home())]


def _beside_python(folder: Path) -> list[Path]:
    """All folders in it but those that lead to the interpreter, without which none boots."""
    python = Path(sys.base_prefix)
    found: list[Path] = []
    for one in folder.iterdir():
        if python != one and python.is_relative_to(one):
            found += _beside_python(one)
        elif python != one and one.is_dir() and not one.is_symlink():
            found.append(one)
    return found


def test_removing_everything_destroys_only_its_own_machine(farm, tmp_path, record_property):
    machines = Machines(tmp_path, hide=_large())
    plan = Plan(id="m", hostname="doomed", address="127.77.3.2", startup_script=REMOVE_ALL)
    seen = _sights()
    canaries = list(_canaries())
    assert canaries
    record_property("canaries", len(canaries))
    try:
        farm.start("bystander", startup_script=b"echo up; sleep 7777")
        machines.start(plan)
        wait_until(lambda: b"script: gone" in machines.console("m"), patience_s=150)
        assert b"not found" in machines.run("m", "ls").stderr
        assert farm.ask("bystander", "ls /etc/passwd") == "/etc/passwd\n"
        for canary in canaries:
            assert canary.read_bytes() == b"alive", canary
        assert machines.is_alive("m")
    finally:
        machines.delete("m")
        for canary in canaries:
            canary.unlink()
    assert _sights() == seen
    farm.machines.delete("bystander")


def _canaries():
    """A file on the root's file system and on every other one of the host that takes files."""
    own = Path(__file__).parent
    for place in dict.fromkeys(
        [Path("/"), Path("/var/tmp"), own, *map(Path, layout.mount_points())]
    ):
        canary = place / f".windlass-canary-{os.getpid()}"
        try:
            canary.write_bytes(b"alive")
        except OSError:
            # Read-only, a file, or no place for files, such as the kernel's own.
            continue
        yield canary


def _sights() -> tuple[object, ...]:
    """What would be missed first."""
    names = tuple(sorted(path.name for path in Path("/").iterdir()))
    users = hashlib.sha256(Path("/etc/passwd").read_bytes()).hexdigest()
    return names, users, Path("/dev/null").stat().st_mode, len(list(Path("/usr/bin").iterdir()))


def test_a_machine_sees_no_mount_of_the_hosts(farm):
    farm.start("looker")
    mounts = farm.ask("looker", "cut -d' ' -f2,3 /proc/mounts").splitlines()
    kinds = {line.split()[1] for line in mounts if not line.startswith(("/dev/", "/proc/"))}
    assert kinds == {"overlay", "tmpfs", "proc"}
    assert str(farm.home) not in farm.ask("looker", "cat /proc/mounts /proc/self/mountinfo")
    assert farm.ask("looker", "ls -A /sys/class") == "dmi\n"
    farm.machines.delete("looker")


def test_the_twin_and_the_homes_are_hidden(farm, tmp_path):
    farm.start("blind")
    assert farm.ask("blind", f"ls -A {farm.home}").count("No such file") == 1
    home = Path.home()
    assert farm.ask("blind", f"ls -A {home}/.config {home}/.ssh 2>&1 | grep -vc 'No such'") == "0\n"
    assert "alive" not in farm.ask("blind", f"cat {tmp_path}/x")
    assert farm.ask("blind", "cut -d: -f2 /etc/shadow | sort -u") == "*\n"
    assert farm.ask("blind", "awk -F: '$3 >= 1000 && $3 != 65534' /etc/passwd") == ""
    farm.machines.delete("blind")


def test_what_the_caller_hides_is_empty_and_stays_so(tmp_path):
    # Of the root's own file system: what is below /tmp is not kept by any machine.
    secret = Path("/usr/share")
    machines = Machines(tmp_path, hide=[secret])
    if not machines.can_run():
        pytest.skip(f"machines are only modelled on this host: {machines.refusal()}")
    plan = Plan(id="m", hostname="m", address="127.77.3.1")
    try:
        machines.start(plan)
        assert any(secret.iterdir())
        assert machines.run("m", f"ls -A {secret}").stdout == b""
        again = f"rm -rf {secret} && mkdir {secret} && ls -A {secret}; mv {secret} {secret}2"
        assert machines.run("m", f"{again}; ls {secret}").stdout == b""
        machines.kill("m")
        machines.start(plan)
        assert machines.run("m", f"ls -A {secret} {secret}2").stdout == f"{secret}2:\n".encode()
    finally:
        machines.delete("m")


@pytest.mark.parametrize("name", ["tmp", "run", "proc", "dev", "sys", "etc/hosts", "home"])
def test_a_link_left_on_a_disk_leads_nowhere_at_the_next_start(farm, tmp_path, name):
    """Before the root is changed, a link of the machine's would be one of the host's."""
    farm.start("linked")
    outside = tmp_path / "outside"
    outside.mkdir()
    farm.machines.kill("linked")
    upper = farm.machines.folder("linked") / "disk" / "0" / "upper"
    # What a machine may have done with its disk, done directly.
    place = upper / name
    if place.is_dir():
        for inner in sorted(place.rglob("*"), reverse=True):
            inner.rmdir() if inner.is_dir() and not inner.is_symlink() else inner.unlink()
        place.rmdir()
    place.unlink(missing_ok=True)
    place.symlink_to(outside)
    before = Path("/etc/hosts").read_bytes()
    farm.start("linked", startup_script=b"echo up")
    farm.says("linked", "startup-script: up")
    farm.ask("linked", "echo x > /tmp/x; id")
    assert list(outside.iterdir()) == []
    assert Path("/etc/hosts").read_bytes() == before
    farm.machines.delete("linked")
