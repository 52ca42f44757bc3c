"""What is in a Markdown page: its links, its headings, and its blocks of code.

Must not judge them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(\w*)")
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+(\S+)")


class Block(NamedTuple):
    """A fenced block: the line of its fence, its language and its text."""

    line: int
    language: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a page."""
    begun: tuple[int, str, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if begun is None and fence:
            begun, inside = (number, fence[1], fence[2]), []
        elif begun and fence and fence[1].startswith(begun[1]) and not fence[2]:
            yield Block(begun[0], begun[2], "\n".join(inside) + "\n")
            begun = None
        elif begun:
            inside.append(line)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that are not inside a fenced block, without their code spans."""
    fence_open = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and not fence_open:
            fence_open = fence[1]
        elif fence and fence[1].startswith(fence_open) and not fence[2]:
            fence_open = ""
        elif not fence_open:
            yield number, line


def links(text: str) -> Iterator[tuple[int, str]]:
    """Where a page points to: `(line, target)`."""
    for number, line in prose(text):
        bare = re.sub(r"`[^`]*`", "``", line)
        for target in (*LINK.findall(bare), *REFERENCE.findall(bare)):
            yield number, target


def anchors(text: str) -> set[str]:
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    found: set[str] = set()
    for _, line in prose(text):
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
            count = sum(1 for other in found if re.fullmatch(rf"{re.escape(name)}(-\d+)?", other))
            found.add(f"{name}-{count}" if count else name)
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found
