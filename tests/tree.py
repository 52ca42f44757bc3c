"""The files of this repository as tests read them.

Must not judge them: tests/architecture and tests/docs do.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
SKIPPED = frozenset({".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis"})


@functools.cache
def files() -> tuple[str, ...]:
    """Every file that is or would be tracked, relative to the root; sorted."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        # A checkout may belong to another user than the one who tests it, as in a container.
        command[1:1] = ["-c", f"safe.directory={ROOT}"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        names = set(listed.stdout.split("\0"))
    else:
        names = {
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*")
            if not SKIPPED.intersection(path.parts)
        }
    return tuple(sorted(name for name in names if (ROOT / name).is_file()))


@functools.cache
def text(name: str) -> str:
    """A file's text; empty for one that is not text."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def python_files(*folders: str) -> list[str]:
    """The Python files under these folders."""
    prefixes = tuple(f"{folder}/" for folder in folders)
    return [name for name in files() if name.endswith(".py") and name.startswith(prefixes)]


def markdown_files() -> list[str]:
    """Every page."""
    return [name for name in files() if name.endswith(".md")]
