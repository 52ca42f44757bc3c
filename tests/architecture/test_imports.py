"""Packages import only what is below them, and a command starts without what it does not need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import tree

HEAVY = ("rich", "yaml", "httpx", "numpy", "psycopg", "jax", "asyncio")

# One import per contract that breaks it, in the order of pyproject.toml.
BREAKS = {
    "Layers point downward": ("errors.py", "import windlass.state.model"),
    "Engines do not know each other": ("engines/spare/engine.py", "import windlass.engines.local"),
    "The twin imitates the other side and shares no code with ours": (
        "twin/messages.py",
        "import windlass.spec.model",
    ),
    "The agent stands alone": ("agent/layout.py", "import yaml"),
    "The runtime knows nothing of the control plane": ("runtime/context.py", "import click"),
    "Decisions are pure": ("state/phases.py", "import random"),
}


def lint(root) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the copy of Windlass in `root`."""
    code = (
        "import sys; from importlinter.cli import lint_imports\n"
        "sys.exit(lint_imports(no_cache=True, no_logo=True))"
    )
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def loaded_by(statement: str, *, heavy: tuple[str, ...] = HEAVY) -> list[str]:
    """Which of the heavy modules a new Python has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*sorted(set({heavy!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.split()


@pytest.fixture
def copy(tmp_path):
    """Windlass's source and settings, to be spoilt."""
    shutil.copy(tree.ROOT / "pyproject.toml", tmp_path)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(tree.ROOT / "src", tmp_path / "src", ignore=ignore)
    return tmp_path


def test_every_contract_is_kept():
    done = lint(tree.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_contract_can_be_broken(copy):
    contracts = tomllib.loads(tree.text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    assert [contract["name"] for contract in contracts] == list(BREAKS)
    for name, line in BREAKS.values():
        path = copy / "src/windlass" / name
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}\n{line}\n")
    done = lint(copy)
    broken = re.findall(r"(?m)^(.*\S) BROKEN", done.stdout)
    assert broken == list(BREAKS), done.stdout + done.stderr


def test_the_command_line_starts_without_heavy_modules():
    assert loaded_by("import windlass.cli.main") == []


def test_a_heavy_module_would_be_noticed():
    assert loaded_by("import yaml") == ["yaml"]


def test_the_agent_loads_only_the_standard_library():
    statement = (
        "before = set(sys.modules)\n"
        "import windlass.agent.node, windlass.agent.folder, windlass.agent.layout\n"
        "foreign = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert foreign - {'windlass'} <= sys.stdlib_module_names, foreign"
    )
    assert loaded_by(statement, heavy=("asyncio", "dataclasses", "inspect")) == []
