"""Where checkpoints go: a folder's path from what the user or the agent wrote.

Must not create it.
"""

from __future__ import annotations

import os
import urllib.parse
from pathlib import Path
from typing import Union

from windlass.runtime.checkpoint.errors import CheckpointRefused


def folder_of(to: Union[str, os.PathLike[str]]) -> Path:
    """The folder that a path or `file://` URL names, absolute: the program may change directory.

    Raises:
        CheckpointRefused: nothing is named, or something that is no folder of a file system.
    """
    text = os.fspath(to)
    if not text:
        raise CheckpointRefused(
            "Nobody said where checkpoints go.",
            remedy="Pass a folder, `Checkpointer('checkpoints')`, or run the program with "
            "Windlass, which sets WINDLASS_CHECKPOINT_TO.",
        )
    scheme, separator, _ = text.partition("://")
    if not separator:
        return Path(text).absolute()
    if scheme != "file":
        raise CheckpointRefused(
            f"Checkpoints cannot be written to {text} by this version.",
            remedy="Name a folder that every node reaches, as a path or a file:// URL.",
        )
    return Path(urllib.parse.unquote(urllib.parse.urlsplit(text).path))
