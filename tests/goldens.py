"""Golden files: what a request looks like, kept as text that people read in a review.

Must not decide what is right: `pytest --update-golden` takes what there is, and Git shows it.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent / "golden"


class Golden:
    """Compares text with the file of that name under tests/golden."""

    def __init__(self, *, is_updating: bool) -> None:
        self._is_updating = is_updating

    def check(self, name: str, text: str) -> None:
        path = ROOT / name
        if self._is_updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        if kept != text:
            lines = difflib.unified_diff(
                kept.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            shown = "\n".join(lines)
            pytest.fail(f"{shown}\n(`pytest --update-golden` takes it over)", pytrace=False)
