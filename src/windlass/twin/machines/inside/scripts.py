"""A machine's startup and shutdown scripts: where they lie, and how their lines look.

Must not import anything of ours: it runs inside.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def argv(which: str, content: bytes) -> list[str]:
    """Put a script where Google's runner would, and say how to run it.

    Through a shell, as the runner does: a script without a first line is one of bash.
    """
    folder = Path(f"/tmp/metadata-scripts{time.monotonic_ns()}")
    folder.mkdir(parents=True)
    path = folder / f"{which}-script"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o755)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    return [shell, "-c", str(path)]


class Lines:
    """Puts a prefix before every line of a stream."""

    def __init__(self, prefix: Callable[[], bytes]) -> None:
        self._prefix = prefix
        self._begun = b""

    def feed(self, content: bytes) -> bytes:
        """The whole lines there are now, each with its prefix."""
        *whole, self._begun = (self._begun + content).split(b"\n")
        if len(self._begun) > 8192:
            whole.append(self._begun)
            self._begun = b""
        return b"".join(self._prefix() + line + b"\n" for line in whole)

    def rest(self) -> bytes:
        """A last line that nobody ended."""
        line, self._begun = self._begun, b""
        return self._prefix() + line + b"\n" if line else b""
