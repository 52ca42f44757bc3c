"""The corrected command: every edit of every finding about it, laid out for people.

Must not decide what is corrected.
"""

from __future__ import annotations

from collections.abc import Iterable

from windlass.gcloudlint.finding import END, Edit
from windlass.gcloudlint.shell import Call

WIDTH = 88


def corrected(call: Call, edits: Iterable[Edit]) -> str:
    """The command after the edits; empty when there are none. The first edit of a word counts."""
    at: dict[int, str | None] = {}
    new: list[str] = []
    for edit in edits:
        if edit.at != END:
            at.setdefault(edit.at, edit.text)
        elif edit.text and edit.text not in new:
            new.append(edit.text)
    if not at and not new:
        return ""
    words = [at.get(index, word.raw) for index, word in enumerate(call.words)]
    kept = [word for word in words if word is not None]
    place = kept.index("--") if "--" in kept else len(kept)
    return _laid_out([*kept[:place], *new, *kept[place:]])


def _laid_out(words: list[str]) -> str:
    """On one line, or with a flag on each when it is long."""
    line = " ".join(words)
    if len(line) <= WIDTH or "\n" in line:
        return line
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--") and word != "--" and lines[-1]:
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(" ".join(one) for one in lines)
