"""What can go wrong with a checkpoint, and what the user can do about it.

Must not import NumPy, nor `windlass.errors`: this travels to nodes without the control plane.

    CheckpointError
      CheckpointRefused    it cannot be done as asked: the state, the folder or an option is wrong
      CheckpointFailed     this save did not happen; what was committed before stands untouched
      CheckpointMismatch   the checkpoint does not fit the `like` tree
      CheckpointDamaged    there are checkpoints, and not one of them is whole
"""

from __future__ import annotations


class CheckpointError(Exception):
    """The root. Cannot be built without a remedy."""

    code = "checkpoint-error"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.message = message
        self.remedy = remedy


class CheckpointRefused(CheckpointError):
    """It cannot be done as asked: the state, the folder or an option is wrong."""

    code = "checkpoint-refused"


class CheckpointFailed(CheckpointError):
    """This save did not happen; what was committed before stands untouched."""

    code = "checkpoint-failed"


class CheckpointMismatch(CheckpointError):
    """The checkpoint does not fit the `like` tree; nothing was restored."""

    code = "checkpoint-mismatch"


class CheckpointDamaged(CheckpointError):
    """There are checkpoints, and not one of them is whole; nothing was deleted."""

    code = "checkpoint-damaged"


class Damage(Exception):
    """One checkpoint is torn, truncated, altered or incomplete. Never leaves this package."""
