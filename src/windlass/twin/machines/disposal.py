"""Removes a machine's disk, whatever the machine has left there.

Must not follow a link, nor need a stack as deep as the folders are: a machine may nest them without
end, and make them such that not even their owner may enter.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder. Those inside are brought up to it first, so that no path is long."""
    number = 0
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        for entry in list(os.scandir(place)):
            inner = Path(entry.path)
            if not entry.is_dir(follow_symlinks=False):
                inner.unlink()
                continue
            inner.chmod(stat.S_IRWXU)
            number = _free(folder, number + 1)
            waiting.append(inner.rename(folder / f".gone-{number}"))
        if place != folder:
            place.rmdir()
    folder.rmdir()


def _free(folder: Path, number: int) -> int:
    """A number that no folder has: a removal that was cut short has left some of them."""
    while os.path.lexists(folder / f".gone-{number}"):
        number += 1
    return number
