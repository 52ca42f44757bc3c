"""The arena of a test: closed, and empty of processes, whatever the test did.

Must not be used where no process is started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("kill.verdicts")

from kill.arena import Arena  # noqa: E402 - it must not be imported before

if not sys.platform.startswith("linux"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """A home with nothing in it."""
    built = Arena(tmp_path, Path(os.environ["WINDLASS_HOME"]))
    try:
        yield built
    finally:
        built.close()
