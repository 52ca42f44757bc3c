"""Carries files in and out of a machine as one stream, for scp.

Must not let a stream write beside the place it was asked for: what comes out of a machine is
unpacked on the host.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from typing import BinaryIO, NoReturn


class CopyRefused(Exception):
    """Something that cannot be copied."""


def pack(paths: list[str], stream: BinaryIO, *, is_deep: bool) -> None:
    """Write files, and with `is_deep` folders, to a stream under their last names."""
    with tarfile.open(fileobj=stream, mode="w|") as archive:
        for path in paths:
            place = Path(path).expanduser()
            if not place.exists():
                raise CopyRefused(f"{path}: No such file or directory")
            if place.is_dir() and not is_deep:
                raise CopyRefused(f"{path}: not a regular file")
            archive.add(os.path.realpath(place), arcname=place.name or "files")


def unpack(stream: BinaryIO, target: str) -> None:
    """Write what a stream holds to a folder; a single thing may be given another name."""
    place = Path(target or ".").expanduser()
    is_folder = place.is_dir() or target.endswith("/")
    folder = place if is_folder else place.parent
    if not folder.is_dir():
        raise CopyRefused(f"{target}: No such file or directory")
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            top, _, rest = member.name.partition("/")
            name = top if is_folder else place.name
            renamed = member.replace(name=f"{name}/{rest}" if rest else name, deep=False)
            archive.extract(renamed, folder, filter="data")


def main(words: list[str]) -> NoReturn:
    """Inside: `out [-r] PATH...` or `in TARGET`."""
    try:
        if words[0] == "out":
            is_deep = words[1] == "-r"
            pack(words[2:] if is_deep else words[1:], sys.stdout.buffer, is_deep=is_deep)
        else:
            unpack(sys.stdin.buffer, words[1])
    except (CopyRefused, OSError, tarfile.TarError) as exc:
        sys.stderr.write(f"scp: {exc}\n")
        sys.exit(1)
    sys.exit(0)
