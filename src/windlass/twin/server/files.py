"""Small files of the twin's home, written so that nobody else can read them or see half of one.

Must not know what they hold.
"""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, content: bytes | str, *, mode: int = 0o600) -> None:
    """Put a file in place as a whole."""
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write_if_changed(path: Path, content: str, *, mode: int = 0o600) -> None:
    """Put a file in place unless it says so already: others may be reading it."""
    try:
        if path.read_text() == content:
            return
    except OSError:
        pass  # It is not there, or not ours yet: written anew.
    write_private(path, content, mode=mode)
