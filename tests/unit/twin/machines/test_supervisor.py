"""Machines run without privileges too, in a user namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import windlass

NOBODY = 65534
PROGRAM = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.plan import Plan
machines = Machines(Path(sys.argv[2]))
said = {"refusal": machines.refusal()}
if said["refusal"] is None:
    script = b"echo x > /etc/x; rm -rf /usr/share /opt /etc/skel 2>/dev/null; echo done; sleep 7777"
    machines.start(Plan(id="m", hostname="m", address="127.77.9.1", startup_script=script))
    while b"startup-script: done" not in machines.console("m"):
        time.sleep(0.01)
    said["who"] = machines.run("m", "id -u; cat /etc/x; sudo id -u", user="ada").stdout.decode()
    said["mount"] = machines.run("m", "mount -t tmpfs none /mnt").status
    said["unshare"] = machines.run("m", "unshare -U true").status
    machines.kill("m")
    said["exited"] = machines.exited("m")
    machines.delete("m")
print(json.dumps(said))
"""


def _python_for_anybody() -> str | None:
    """A Python that another user may run."""
    for path in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [path, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"],
                user=NOBODY,
                timeout=20,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return path
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test is unprivileged then")
def test_a_machine_needs_no_privileges():
    source = Path(windlass.__file__).parents[1]
    python = _python_for_anybody()
    if python is None:
        pytest.skip("there is no Python here that another user may run")
    home = Path(tempfile.mkdtemp(prefix="windlass-anybody-"))
    os.chown(home, NOBODY, NOBODY)
    try:
        done = subprocess.run(
            [python, "-c", PROGRAM, str(source), str(home)],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env={"PATH": os.defpath, "HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        shutil.rmtree(home)
    if "ModuleNotFoundError" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip("another user may not read this source")
    assert done.returncode == 0, done.stderr
    if '"refusal": null' not in done.stdout:
        pytest.skip(done.stdout)
    expected = '{"refusal": null, "who": "0\\nx\\n0\\n", "mount": 32, "unshare": 1, "exited": 137}'
    assert done.stdout.strip() == expected
    assert Path("/usr/share").is_dir()
