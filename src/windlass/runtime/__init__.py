"""The public face of what a training program uses: context, progress, notice and checkpoints.

Must not hold logic, nor import NumPy before a checkpointer is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from windlass.runtime.checkpoint.errors import CheckpointDamaged as CheckpointDamaged
from windlass.runtime.checkpoint.errors import CheckpointError as CheckpointError
from windlass.runtime.checkpoint.errors import CheckpointFailed as CheckpointFailed
from windlass.runtime.checkpoint.errors import CheckpointMismatch as CheckpointMismatch
from windlass.runtime.checkpoint.errors import CheckpointRefused as CheckpointRefused
from windlass.runtime.context import Context as Context
from windlass.runtime.context import context as context
from windlass.runtime.notice import EXIT_PREEMPTED as EXIT_PREEMPTED
from windlass.runtime.notice import Notice as Notice
from windlass.runtime.notice import leave as leave
from windlass.runtime.notice import notice as notice
from windlass.runtime.progress import progress as progress

if TYPE_CHECKING:
    from windlass.runtime.checkpoint.checkpointer import Checkpointer as Checkpointer
    from windlass.runtime.checkpoint.checkpointer import Options as Options
    from windlass.runtime.checkpoint.checkpointer import Restored as Restored

__all__ = [
    "EXIT_PREEMPTED",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointFailed",
    "CheckpointMismatch",
    "CheckpointRefused",
    "Checkpointer",
    "Context",
    "Notice",
    "Options",
    "Restored",
    "context",
    "leave",
    "notice",
    "progress",
]


def __getattr__(name: str) -> Any:
    if name in ("Checkpointer", "Options", "Restored"):
        module = importlib.import_module("windlass.runtime.checkpoint.checkpointer")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
