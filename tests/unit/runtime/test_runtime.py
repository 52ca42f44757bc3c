"""The public face: light to import, whole from a zip, and alive on every Python a node may have."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tree
import windlass.runtime

SOURCE = Path(windlass.runtime.__file__).parent.parent

WITHOUT_NUMPY = """
import sys, os
from windlass.runtime import context, leave, notice, progress, CheckpointFailed, EXIT_PREEMPTED
heavy = ("numpy", "jax", "torch", "dataclasses")
assert not any(name in sys.modules for name in heavy), sys.modules
assert windlass_is_zipped == (".zip" in sys.modules["windlass.runtime"].__file__)
assert (context().rank, context().data["train"], notice()) == (1, "/shards", None)
progress(3, loss=0.5)
print(open(os.environ["WINDLASS_FOLDER"] + "/rank-1/progress.jsonl").read().count("loss"))
"""

ROUND_TRIP = """
import numpy, sys
from windlass.runtime import Checkpointer
checkpoints = Checkpointer(sys.argv[1])
assert checkpoints.restore() is None
checkpoints.save(4, {"w": numpy.arange(3), "n": (1, None)})
step, state = checkpoints.restore()
print(step, state["w"].tolist(), state["n"])
"""


def candidates():
    """What may be a Python from 3.9 on, this one first; some are shims that start nothing."""
    yield sys.executable
    for minor in range(9, 20):
        yield shutil.which(f"python3.{minor}") or ""
        yield from map(str, Path("~/.pyenv/versions").expanduser().glob(f"3.{minor}.*/bin/python"))


def version_of(python):
    program = "import sys; print(sys.version_info[1])"
    try:
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=30)
    except OSError:
        return None
    return int(done.stdout) if done.returncode == 0 else None


def interpreters():
    found = {}
    for python in filter(None, candidates()):
        version = version_of(python)
        if version is not None:
            found.setdefault(version, python)
    return [pytest.param(found[minor], id=f"3.{minor}") for minor in sorted(found)]


def zipped(folder):
    path = folder / "agent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for package in (SOURCE / "agent", SOURCE / "runtime"):
            for file in package.rglob("*.py"):
                archive.write(file, Path("windlass") / file.relative_to(SOURCE))
        archive.write(SOURCE / "__init__.py", "windlass/__init__.py")
    return path


def output(python, program, *arguments, **environment):
    done = subprocess.run(
        [python, "-c", program, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("python", interpreters())
def test_it_works_from_a_zip_without_numpy(tmp_path, python):
    program = "windlass_is_zipped = True\n" + WITHOUT_NUMPY
    told = {
        "PYTHONPATH": str(zipped(tmp_path)),
        "WINDLASS_FOLDER": str(tmp_path / "node"),
        "WINDLASS_RANK": "1",
        "WINDLASS_DATA_TRAIN": "/shards",
        "WINDLASS_NOTICE": str(tmp_path / "notice.json"),
    }
    assert output(python, program, **told) == "1"


@pytest.mark.parametrize("python", interpreters())
def test_checkpoints_work_from_a_zip(tmp_path, python):
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode != 0:
        pytest.skip(f"{python} has no NumPy")
    seen = output(python, ROUND_TRIP, tmp_path / "ckpt", PYTHONPATH=str(zipped(tmp_path)))
    assert seen == "4 [0, 1, 2] (1, None)"


def test_the_documented_loop_runs_and_goes_on(tmp_path):
    page = tree.text("docs/concepts/runtime.md")
    loop = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    told = {"PYTHONPATH": str(SOURCE.parent), "WINDLASS_CHECKPOINT_TO": str(tmp_path / "c")}
    for last in ("500", "1000"):
        output(sys.executable, loop.replace("1001", last + " + 1").replace("1000", last), **told)
        assert windlass.runtime.Checkpointer(tmp_path / "c").latest() == int(last)
    state = windlass.runtime.Checkpointer(tmp_path / "c").restore().state
    assert state["position"] == 32 * 1000


def test_every_public_name_is_there():
    for name in windlass.runtime.__all__:
        assert getattr(windlass.runtime, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Checkpoints'"):
        windlass.runtime.Checkpoints  # noqa: B018 - the look-up is what is tested
