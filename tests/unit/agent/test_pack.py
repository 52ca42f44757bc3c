"""The packed agent: one file, made once, the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from windlass.agent.pack import build

ROOT = Path(__file__).parents[3] / "src"


def test_the_file_depends_only_on_the_sources(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from windlass.agent.pack import build; "
    code += "print(build(Path(sys.argv[1])))"
    made = []
    for seed in ("1", "2"):
        env = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        target = tmp_path / seed
        done = subprocess.run(
            [sys.executable, "-c", code, target], env=env, capture_output=True, check=True
        )
        made.append(Path(done.stdout.decode().strip()))
    assert made[0].name == made[1].name
    assert made[0].read_bytes() == made[1].read_bytes()


def test_it_is_made_once_and_leaves_nothing_else(tmp_path: Path) -> None:
    first = build(tmp_path / "agent")
    before = first.stat().st_mtime_ns
    assert build(tmp_path / "agent") == first
    assert first.stat().st_mtime_ns == before
    assert list((tmp_path / "agent").iterdir()) == [first]


def test_it_holds_the_agent_and_the_runtime_and_nothing_else(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build(tmp_path)).namelist()
    tops = {"/".join(name.split("/")[:2]) for name in names if name.startswith("windlass/")}
    assert tops == {
        "windlass/__init__.py",
        "windlass/__init__.pyc",
        "windlass/agent",
        "windlass/runtime",
    }
    assert "windlass/agent/main.py" in names and "windlass/runtime/context.py" in names


def test_it_does_not_hide_the_rest_of_an_installed_windlass(tmp_path: Path) -> None:
    agent = build(tmp_path)
    code = "import windlass.runtime, windlass.errors; print(windlass.runtime.__file__)"
    env = {**os.environ, "PYTHONPATH": f"{agent}:{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout.decode().startswith(str(agent))


def test_starting_it_imports_nothing_slow(tmp_path: Path) -> None:
    agent = build(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(agent)!r}); import windlass.agent.main; "
    code += "print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    slow = {"argparse", "dataclasses", "hashlib", "logging", "shutil", "subprocess", "tarfile"}
    slow |= {"tempfile", "threading", "traceback", "urllib.request", "windlass.agent.source"}
    assert loaded & slow == set()
