"""Reports of bugs: written to the home folder when a command broke.

Must not raise: whoever reads the report has one bug to deal with already.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
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
            with tempfile.NamedTemporaryFile(
                "w", dir=folder, prefix="windlass-", suffix=".txt", delete=False, encoding="utf-8"
            ) as file:
                file.write(text)
            return Path(file.name)
        except OSError:
            continue
    return None


def _reports() -> Path | None:
    from windlass.assemble import home_path

    return home_path() / "reports"


def _version() -> str:
    from windlass.version import VERSION

    return VERSION


def _without_value(argument: str) -> str:
    name, mark, _ = argument.partition("=")
    return f"{name}=…" if mark else argument
