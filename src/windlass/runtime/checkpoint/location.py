"""Where checkpoints go: a folder or a bucket, from what the user or the agent wrote.

Must not create it.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from pathlib import Path
from typing import Union

from windlass.runtime.checkpoint.disk import DiskShelf
from windlass.runtime.checkpoint.errors import CheckpointRefused
from windlass.runtime.checkpoint.places import Shelf

_BUCKET = re.compile(r"gs://[a-z0-9][a-z0-9._-]+[a-z0-9](/[^/\n\r]+)*/?", re.ASCII)


def shelf_of(folder: Union[Path, str]) -> Shelf:
    """The shelf there."""
    if isinstance(folder, Path):
        return DiskShelf(folder)
    # HTTP and TLS are slow to import, and most programs need neither.
    from windlass.runtime.checkpoint.bucket import BucketShelf  # noqa: PLC0415 - see above.

    return BucketShelf(folder)


def folder_of(to: Union[str, os.PathLike[str]]) -> Union[Path, str]:
    """The folder that a path or `file://` URL names, absolute: the program may change directory;
    or the `gs://` URL of one in a bucket.

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
    if scheme == "gs" and _BUCKET.fullmatch(text):
        return text.rstrip("/")
    if scheme != "file":
        raise CheckpointRefused(
            f"Checkpoints cannot be written to {text} by this version.",
            remedy="Name a folder that every node reaches, as a path, or as gs://bucket/folder.",
        )
    return Path(urllib.parse.unquote(urllib.parse.urlsplit(text).path))
