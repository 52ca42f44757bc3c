"""Which framework a program uses, seen from its command line and its entry point.

Must not run or import anything of the user's, nor read outside the workdir.
"""

from __future__ import annotations

import re
from pathlib import Path

from windlass.spec.model import Launch

READ_MAX = 256 * 1024

# Programs that start the ranks themselves: to start them once per rank would square their number.
_STARTS_RANKS = (
    r"\btorchrun\b|\btorch\.distributed\.(run|launch)\b|\baccelerate\s+launch\b|\bdeepspeed\b"
    r"|\bmpirun\b|\bmpiexec\b|\bsrun\b|\bhorovodrun\b"
)
_TOKEN = r"""'[^']*'|"[^"]*"|[^\s'";&|]+"""
_CODE = "(?m)^[^#\n]*"

# The first that is found decides: what names the way ranks meet outweighs a mere import.
_SIGNS = (
    (Launch.JAX, _CODE + r"\bjax\.distributed\b"),
    (Launch.TORCHRUN, _CODE + r"\btorch\.distributed\b"),
    (Launch.TORCHRUN, r"(?m)^\s*from\s+torch\s+import\s[^\n]*\bdistributed\b"),
    (Launch.TENSORFLOW, _CODE + r"\bMultiWorkerMirroredStrategy\b"),
    (Launch.JAX, r"(?m)^\s*(import|from)\s+jax\b"),
)


def launch_for(run: str, workdir: Path | None) -> Launch:
    """Who should start the ranks of this command; PLAIN when nothing speaks for another."""
    if workdir is None or re.search(_STARTS_RANKS, run):
        return Launch.PLAIN
    entry = entry_point(run, workdir)
    return Launch.PLAIN if entry is None else launch_of(read_start(entry))


def launch_of(program: str) -> Launch:
    """Who should start the ranks of a program with this text."""
    for launch, sign in _SIGNS:
        if re.search(sign, program):
            return launch
    return Launch.PLAIN


def entry_point(run: str, workdir: Path) -> Path | None:
    """The first Python file inside the workdir that the command names, by path or by `-m`."""
    tokens = [token.strip("'\"") for token in re.findall(_TOKEN, run)]
    for before, token in zip(["", *tokens], tokens, strict=False):
        if before == "-m":
            path = token.replace(".", "/")
            found = [_inside(workdir, f"{path}.py"), _inside(workdir, f"{path}/__main__.py")]
        else:
            found = [_inside(workdir, token)] if token.endswith(".py") else []
        for entry in found:
            if entry is not None:
                return entry
    return None


def _inside(workdir: Path, name: str) -> Path | None:
    """The file of that name, unless it is missing or leads out of the workdir."""
    try:
        path = (workdir / name).resolve()
        return path if path.is_file() and path.is_relative_to(workdir.resolve()) else None
    except (OSError, RuntimeError, ValueError):
        return None


def read_start(path: Path) -> str:
    """The beginning of a file, empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(READ_MAX).decode("utf-8", errors="replace")
    except OSError:
        return ""
