"""A first spec for a folder, written from what is found in it: framework, entry point, packages.

Must not run or import anything of the user's. The text it writes loads without problems.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from windlass.spec import framework, names
from windlass.spec.model import Launch

_LIKELY = ("train.py", "main.py", "pretrain.py", "finetune.py", "run.py")
_FOLDERS = ("", "src", "scripts")
_FILES_MAX = 500
_MAIN = re.compile(r"(?m)^if\s+__name__\s*==\s*['\"]__main__['\"]")
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*", re.ASCII)
# Plain words that YAML, or an older YAML, does not take for text.
_NOT_TEXT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")

_LAUNCH_COMMENTS = {
    Launch.TORCHRUN: "one rank per GPU; torch.distributed reads RANK and WORLD_SIZE",
    Launch.JAX: "one rank per node; jax.distributed.initialize() needs no arguments",
    Launch.TENSORFLOW: "one rank per node, with TF_CONFIG set",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    name: str
    entry: str | None
    launch: Launch
    setup: str | None


def draft_spec(folder: Path) -> str:
    """The text of a commented `train.yaml` for that folder."""
    entry = _entry_point(folder)
    launch = framework.launch_of(framework.read_start(folder / entry)) if entry else Launch.PLAIN
    found = _Found(
        name=names.safe_name(folder.resolve().name),
        entry=entry,
        launch=launch,
        setup=_setup_command(folder),
    )
    return "\n".join(_lines(found)) + "\n"


def _lines(found: _Found) -> list[str]:
    lines = [
        "# A Windlass spec: `windlass run train.yaml` starts it.",
        "# Every key: `windlass schema`, or docs/spec.md.",
        f"name: {_as_yaml(found.name)}",
        "",
    ]
    if found.entry is None:
        lines += [
            "# No entry point was found: write the command that trains.",
            "run: python train.py",
        ]
    else:
        lines.append(f"run: {_as_yaml(f'python {_in_shell(found.entry)}')}")
    if found.launch is not Launch.PLAIN:
        lines.append(f"launch: {found.launch.value}  # {_LAUNCH_COMMENTS[found.launch]}")
    if found.setup is not None:
        lines.append(f"setup: {_as_yaml(found.setup)}")
    else:
        lines.append("# setup: pip install -r requirements.txt  # once per node, before the ranks")
    return lines + list(_SUGGESTED)


_SUGGESTED = (
    "",
    "# What each node must have; without accelerators it runs on CPUs.",
    "# resources:",
    "#   accelerators: [H100:8, A100-80:8]  # any of these",
    "#   nodes: 1",
    "",
    "# Restarted after a lost node or a preemption, at most this often.",
    "limits:",
    "  restarts: 10",
    "#   ttl: 24h  # stops the run and its machines for good",
    "",
    "# Where checkpoints go; the run folder when left out.",
    "# checkpoint: {every: auto, keep: 3}",
    "",
    "# env: {LOG: info}",
    "# secrets: [HF_TOKEN]  # taken from your environment, masked in logs",
)


def _entry_point(folder: Path) -> str | None:
    """The Python file that most likely trains, relative to the folder."""
    for inner in _FOLDERS:
        for likely in _LIKELY:
            if (folder / inner / likely).is_file():
                return (Path(inner) / likely).as_posix()
    programs = [path.name for path in _python_files(folder) if _is_program(path)]
    preferred = [name for name in programs if "train" in name.casefold()]
    for choice in (preferred, programs):
        if len(choice) == 1:
            return choice[0]
    return None


def _python_files(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.glob("*.py") if path.is_file())
    except OSError:
        return []
    # A name that cannot be written down in a spec cannot be its entry point.
    return [path for path in found[:_FILES_MAX] if path.name.isprintable()]


def _is_program(path: Path) -> bool:
    return _MAIN.search(framework.read_start(path)) is not None


def _setup_command(folder: Path) -> str | None:
    if (folder / "requirements.txt").is_file():
        return "pip install -r requirements.txt"
    pyproject = folder / "pyproject.toml"
    if pyproject.is_file() and re.search(r"(?m)^\[project\]", framework.read_start(pyproject)):
        return "pip install ."
    if (folder / "setup.py").is_file():
        return "pip install ."
    for name in ("environment.yml", "environment.yaml"):
        if (folder / name).is_file():
            return f"conda env update --file {name}"
    return None


def _in_shell(path: str) -> str:
    """The path as one word of a shell, and never as an option."""
    word = f"./{path}" if path.startswith("-") else path
    if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _as_yaml(text: str) -> str:
    """The text as a YAML scalar: plain where that is safe, else in double quotes."""
    if _SAFE.fullmatch(text) and text.casefold() not in _NOT_TEXT:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
