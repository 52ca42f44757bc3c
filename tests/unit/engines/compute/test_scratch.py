"""Local SSDs as scratch space: the lines of the start-up script, with stand-ins for its tools."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rented import rented_claim
from rented_machines import render_claim
from windlass.engines.compute.scratch import DISKS, PLACE, SET_UP

TOOLS = ("mkfs.ext4", "mount", "chmod", "mountpoint")


def played(folder: Path, *, disks: int, has_mdadm: bool = True, broken: str = "") -> list[str]:
    """What the tools were told, and last what ranks are."""
    programs, devices = folder / "bin", folder / "dev"
    programs.mkdir()
    devices.mkdir()
    for name in (*TOOLS, *(["mdadm"] if has_mdadm else [])):
        status = int(name in (broken, "mountpoint"))
        text = f'#!/bin/bash\necho "{name} $*" >> {folder}/told\nexit {status}\n'
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    for number in range(disks):
        (devices / f"ssd-{number}").touch()
    script = SET_UP.replace(DISKS, f"{devices}/ssd-").replace(PLACE, f"{folder}/scratch")
    done = subprocess.run(
        ["bash", "-uc", f'{script}\necho "ranks: ${{WINDLASS_SCRATCH:-nothing}}"'],
        cwd=folder,
        env={"PATH": f"{programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = folder / "told"
    lines = told.read_text() if told.exists() else ""
    return [line.replace(str(folder), "") for line in [*lines.splitlines(), done.stdout.strip()]]


def test_several_are_one(tmp_path):
    said = played(tmp_path, disks=3)
    (made,) = [line for line in said if line.startswith("mdadm")]
    assert "--level=0" in made and made.endswith(
        "--raid-devices=3 /dev/ssd-0 /dev/ssd-1 /dev/ssd-2"
    )
    assert "mount -o noatime,discard /dev/md/windlass-scratch /scratch" in said
    assert said[-1] == "ranks: /scratch"


@pytest.mark.parametrize(("disks", "has_mdadm"), [(1, True), (2, False)])
def test_one_is_taken_as_it_is(tmp_path, disks, has_mdadm):
    said = played(tmp_path, disks=disks, has_mdadm=has_mdadm)
    assert not [line for line in said if line.startswith("mdadm")]
    assert "mount -o noatime,discard /dev/ssd-0 /scratch" in said
    assert said[-1] == "ranks: /scratch"


def test_where_there_is_none_ranks_are_told_of_none(tmp_path):
    assert played(tmp_path, disks=0) == ["ranks: nothing"]


@pytest.mark.parametrize("broken", ["mdadm", "mkfs.ext4", "mount"])
def test_what_fails_keeps_no_node_from_starting(tmp_path, broken):
    assert played(tmp_path, disks=2, broken=broken)[-1] == "ranks: nothing"


@pytest.mark.parametrize(
    ("offer", "options", "has_scratch"),
    [
        ("us-central1-a/a3-highgpu-8g/spot", {}, True),
        ("us-central1-a/g2-standard-8/spot", {"local_ssds": 1}, True),
        ("us-central1-a/g2-standard-8/spot", {}, False),
    ],
)
def test_only_machines_with_local_ssds_look_for_them(offer, options, has_scratch):
    request = render_claim(rented_claim(offer, options=options))
    assert ("WINDLASS_SCRATCH" in str(request.inserts[-1].body)) is has_scratch
