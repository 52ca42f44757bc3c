"""What made a rank fail, told from its exit status and the last lines it printed.

Must not know runs or attempts: a table of signs, and the words and the cure for each. Pure.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """What was recognised. Empty fields: nothing was."""

    name: str = ""
    what: str = ""
    """Follows `rank 3 on node 1:`; no full stop."""
    why: tuple[str, ...] = ()
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sign:
    name: str
    pattern: re.Pattern[str]
    what: str
    remedy: str


def _sign(name: str, pattern: str, *, what: str, remedy: str) -> _Sign:
    return _Sign(name=name, pattern=re.compile(pattern), what=what, remedy=remedy)


# In order: the first that is found in the last lines is believed, so the particular ones come
# first. `{}` stands for what the pattern's first group found.
_SIGNS = (
    _sign(
        "gpu-memory",
        r"CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY|RESOURCE_EXHAUSTED.*(?:memory|allocat)"
        r"|torch\.(?:cuda\.)?OutOfMemoryError",
        what="the accelerator ran out of memory",
        remedy="Use a smaller batch, shard the model over more accelerators, or ask for ones with "
        "more memory.",
    ),
    _sign(
        "module-missing",
        r"(?:ModuleNotFoundError: |ImportError: )No module named '?([\w.\-]+)",
        what="the Python module {} is not installed",
        remedy="Install it in `setup:` (for instance `pip install {}`), or name the Python of your "
        "environment in `run:`.",
    ),
    _sign(
        "file-missing",
        r"(?:can't open file|cannot open|No such file or directory:?)\s*'?([^\s':]+)",
        what="a file is missing: {}",
        remedy="Only what is under `workdir:` travels, without what .gitignore leaves out: put the "
        "file there, or give its absolute path.",
    ),
    _sign(
        "address-in-use",
        r"[Aa]ddress already in use|EADDRINUSE",
        what="a network port it wanted is taken",
        remedy="Another process holds the port, perhaps one left by an earlier program: use the "
        "port in MASTER_PORT or WINDLASS_COORDINATOR, or let the system choose one.",
    ),
    _sign(
        "accelerator-missing",
        r"CUDA (?:is )?not available|No CUDA GPUs are available|no CUDA-capable device"
        r"|Torch not compiled with CUDA|Found no NVIDIA driver"
        r"|Unable to initialize backend '(?:cuda|tpu|gpu)'",
        what="its framework found no accelerator",
        remedy="Look with `windlass doctor`, install the build of the framework that fits the "
        "driver, and ask for accelerators in `resources:`.",
    ),
    _sign(
        "collective-failed",
        r"NCCL (?:error|WARN)|ncclSystemError|ncclInternalError|DEADLINE_EXCEEDED.*coordinat"
        r"|Barrier timed out|Connection reset by peer",
        what="it lost contact with the other ranks",
        remedy="See whether another rank failed first: `windlass logs` of every rank shows them "
        "by time.",
    ),
    _sign(
        "disk-full",
        r"No space left on device|Disk quota exceeded",
        what="the disk is full",
        remedy="Make room, keep fewer checkpoints (`checkpoint.keep`), or remove ended runs with "
        "`windlass rm`.",
    ),
    _sign(
        "permission-denied",
        r"[Pp]ermission denied",
        what="it was not permitted to use a file",
        remedy="Make the file executable (`chmod +x`) or readable, or start it through its "
        "interpreter (`python train.py`).",
    ),
)

_PYTHON_ERROR = re.compile(r"\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)\b")

_STATUSES = {
    126: Symptom(
        name="not-executable",
        what="the command cannot be executed (exit 126)",
        remedy="Make it executable (`chmod +x`) or start it through its interpreter.",
    ),
    127: Symptom(
        name="command-missing",
        what="the command was not found (exit 127)",
        remedy="Check the spelling of `run:`, install the program in `setup:`, or give its path.",
    ),
}


def symptom_of(status: int | None, code: str, lines: Sequence[str]) -> Symptom:
    """What the exit status and the last lines point to."""
    found = _from_lines(lines)
    number = _signal_of(status)
    if number is not None and found.name != "gpu-memory":
        return _from_signal(number)
    if status in _STATUSES and found.name not in ("permission-denied", "module-missing"):
        return _STATUSES[status]
    if found.name:
        return found
    if code == "setup-failed":
        return Symptom(
            name="setup-failed",
            what=f"`setup:` ended with exit status {status}" if status else "`setup:` failed",
            remedy="Run the same command by hand in the workdir, mend it, and run again.",
        )
    return _from_status(status, lines)


def _from_lines(lines: Sequence[str]) -> Symptom:
    text = "\n".join(lines)
    for sign in _SIGNS:
        match = sign.pattern.search(text)
        if match is not None:
            found = match[1] if match.re.groups and match[1] else ""
            return Symptom(
                name=sign.name,
                what=sign.what.replace("{}", found),
                remedy=sign.remedy.replace("{}", found),
            )
    return Symptom()


def _signal_of(status: int | None) -> int | None:
    """The signal that ended the process; a shell reports it as 128 and more."""
    if status is None:
        return None
    number = -status if status < 0 else status - 128
    return number if 0 < number < 65 else None


def _from_signal(number: int) -> Symptom:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if number == signal.SIGKILL:
        return Symptom(
            name="killed",
            what="it was killed (SIGKILL, exit 137)",
            why=("Nothing of Windlass killed it: most often the machine ran out of memory.",),
            remedy="Look for `oom` in `dmesg`; use a smaller batch or fewer data workers, or ask "
            "for more memory (`resources.memory`).",
        )
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT):
        return Symptom(
            name="crashed",
            what=f"it crashed ({name})",
            why=("Native code crashed: a driver, a framework build, or an extension.",),
            remedy="Set `PYTHONFAULTHANDLER: 1` in `env:` to see where, and check that framework "
            "and driver fit together.",
        )
    return Symptom(
        name="signalled",
        what=f"it was ended by {name}",
        why=("Something outside Windlass sent it the signal.",),
        remedy="Find out who sends it; a retry goes on from the last checkpoint.",
    )


def _from_status(status: int | None, lines: Sequence[str]) -> Symptom:
    ended = "it failed" if status is None else f"it ended with exit status {status}"
    cause = next((line.strip() for line in reversed(lines) if _is_python_error(line)), "")
    what = f"{ended} after {cause}" if cause else ended
    return Symptom(
        what=what.rstrip("."), remedy="Read the last lines it printed, mend the cause, and retry."
    )


def _is_python_error(line: str) -> bool:
    return _PYTHON_ERROR.match(line) is not None
