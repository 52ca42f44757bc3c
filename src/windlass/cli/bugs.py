"""Reports of bugs: written to the home folder when a command broke.

Must not raise: whoever reads the report has one bug to deal with already.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
import zlib
from pathlib import Path


def write_report(error: Exception, arguments: list[str]) -> Path | None:
    """Write down what happened; where it was written, None when it could not be."""
    trace = "".join(traceback.format_exception(error))
    text = "\n".join(
        [
            f"windlass {_version()}, Python {sys.version}",
            f"{platform.platform()}",
            # Values of --env may be secret, so only the options themselves are kept.
            f"arguments: {[_without_value(argument) for argument in arguments]}",
            "",
            trace,
        ]
    )
    for folder in (_reports(), Path(tempfile.gettempdir())):
        if folder is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"windlass-{_fingerprint(error)}.txt"
            path.write_text(text, encoding="utf-8")
            return path
        except OSError:
            continue
    return None


def _fingerprint(error: Exception) -> str:
    """The same bug has the same name, so that one that comes every second fills no disk."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    return f"{zlib.crc32(repr((type(error).__name__, places)).encode()):08x}"


def _reports() -> Path | None:
    from windlass.assemble import home_path

    return home_path() / "reports"


def _version() -> str:
    from windlass.version import VERSION

    return VERSION


def _without_value(argument: str) -> str:
    name, mark, _ = argument.partition("=")
    return f"{name}=…" if mark else argument
