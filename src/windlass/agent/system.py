"""The two things Linux offers that keep a tree of processes together.

Must not decide who uses them. Elsewhere (macOS) they are missing, which is told by False.
"""

from __future__ import annotations

import ctypes
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36

# Looked up before the first fork: the child between fork and exec should only call it.
_prctl = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None


def adopt_orphans() -> bool:
    """From now on orphaned descendants of this process become its children, not init's."""
    return _call(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals) -> bool:
    """Send this process a signal when its parent ends. Lasts over exec, not over fork.

    The parent may have ended just before: the caller compares `os.getppid()` afterwards.
    """
    return _call(_SET_PARENT_DEATH_SIGNAL, int(number))


def _call(option: int, value: int) -> bool:
    if _prctl is None:
        return False
    # A variadic function: every argument has to be as wide as the kernel reads it.
    arguments = [ctypes.c_ulong(number) for number in (value, 0, 0, 0)]
    return bool(_prctl(ctypes.c_int(option), *arguments) == 0)
