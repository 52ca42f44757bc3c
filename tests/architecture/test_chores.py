"""The commands that a newcomer types first: make's targets, and what they say when they cannot."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import tree

TARGETS = ("demo", "test", "check", "soak", "bench", "clean")
NEEDED = ("bash", "dirname", "flock", "cat", "rm", "mkdir", "touch")


@pytest.fixture
def checkout(tmp_path):
    """A folder with a space in its name that holds what scripts/venv needs."""
    folder = tmp_path / "a checkout"
    (folder / "scripts").mkdir(parents=True)
    for name in ("scripts/venv", "pyproject.toml", "Makefile"):
        shutil.copy(tree.ROOT / name, folder / name)
    return folder


@pytest.fixture
def programs(tmp_path):
    """A PATH with everything but Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder


def run(command, *, cwd, path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(path)}
    environment.pop("PYTHON", None)
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_alone_says_what_there_is():
    done = run(["make"], cwd=tree.ROOT, path=os.environ["PATH"])
    assert done.returncode == 0
    for target in TARGETS:
        assert f"make {target} " in done.stdout


@pytest.mark.parametrize("name", [".ci/run", "scripts/venv"])
def test_scripts_can_be_run_and_stop_at_the_first_error(name):
    assert os.access(tree.ROOT / name, os.X_OK)
    assert "\nset -euo pipefail\n" in tree.text(name)
    subprocess.run(["bash", "-n", str(tree.ROOT / name)], check=True)


def test_no_python_at_all_is_said_in_words(checkout, programs):
    done = run(["scripts/venv", "demo"], cwd=checkout, path=programs)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert "python3 is not installed" in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_that_is_too_old_is_named(checkout, programs):
    old = programs / "python3"
    old.write_text("#!/usr/bin/env bash\n[[ $1 = --version ]] && echo Python 3.8.10\n")
    old.chmod(0o755)
    done = run(["scripts/venv", "demo"], cwd=checkout, path=programs)
    assert done.returncode == 1
    assert "python3 is Python 3.8.10" in done.stderr


def test_an_environment_that_was_left_half_made_is_made_anew(checkout, programs):
    """What a killed make leaves: a marker, and files that must not be built upon."""
    venv = checkout / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").write_text("#!/usr/bin/env bash\nexit 0\n")
    (venv / "bin/python").chmod(0o755)
    (venv / ".incomplete").touch()
    (venv / "stale").touch()
    new = programs / "python3"
    new.write_text("#!/usr/bin/env bash\n[[ $2 = venv ]] && exit 7\necho Python 3.13.0\n")
    new.chmod(0o755)
    done = run(["scripts/venv", "demo"], cwd=checkout, path=programs)
    assert done.stdout == "Making .venv with Python 3.13.0\n"
    assert not (venv / "stale").exists()
    assert (venv / ".incomplete").exists()
    assert not (venv / ".installed-demo").exists()
