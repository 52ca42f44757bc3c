"""Which parts of a file are shell, which are prose, and on which line each begins.

Must not read files nor look into the shell text. Knows Markdown, notebooks, Dockerfiles, scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

SHELL_FENCES = frozenset(
    {"", "sh", "bash", "shell", "console", "zsh", "text", "txt", "terminal", "shell-session",
     "dockerfile", "docker", "makefile", "yaml", "yml", "none", "code"}
)  # fmt: skip
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)")
_COMMAND_LINE = re.compile(r"^[ \t]*(?:\$[ \t]+)?(?:gcloud|gsutil)[ \t]+\S")
MARKDOWN = (".md", ".markdown", ".mdx", ".rst", ".txt", ".html")


class Kind(StrEnum):
    """How much a passage can be trusted to be commands."""

    SHELL = "shell"
    LINE = "line"
    """A line of prose that begins like a command, with its continuations."""
    INLINE = "inline"
    """Code within a sentence: it may only name a command."""
    PROSE = "prose"
    CODE = "code"
    """Code in another language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a file."""

    kind: Kind
    line: int
    text: str
    heading: str = ""
    """The headings that it stands under."""


def passages(path: str, text: str) -> list[Passage]:
    """The parts of a file, by what its name and its beginning say it is."""
    suffix = PurePath(path).suffix.lower()
    if suffix == ".ipynb" or (suffix == "" and text.lstrip()[:1] == "{"):
        cells = list(_notebook(text))
        if cells:
            return cells
    is_script = text.startswith("#!") or suffix in (".sh", ".bash", ".zsh", ".mk", ".yaml", ".yml")
    if suffix in MARKDOWN or (path == "-" and not is_script and _looks_like_prose(text)):
        return list(_markdown(text, line=1))
    return [Passage(kind=Kind.CODE if suffix == ".py" else Kind.SHELL, line=1, text=text)]


def _looks_like_prose(text: str) -> bool:
    return bool(re.search(r"^(?:#{1,6} \S|[ \t]*```|[-*] \S)", text, re.MULTILINE))


def _notebook(text: str) -> Iterator[Passage]:
    """The cells of a notebook; lines are those of the file where they can be found, else 1."""
    try:
        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"], _joined(cell["source"])) for cell in cells]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    at = 0
    for kind, source in sources:
        first = json.dumps(source.split("\n")[0], ensure_ascii=False)[1:-1]
        found = text.find(first, at) if first else -1
        at = found if found >= 0 else at
        line = text.count("\n", 0, at) + 1
        if kind == "markdown":
            yield from _markdown(source, line=line)
        else:
            is_shell = source.startswith(("%%bash", "%%sh", "%%script"))
            yield Passage(kind=Kind.SHELL if is_shell else Kind.CODE, line=line, text=source)


def _joined(source: object) -> str:
    return "".join(str(line) for line in source) if isinstance(source, list) else str(source)


def _markdown(text: str, *, line: int) -> Iterator[Passage]:
    """Fenced blocks as what they say they are, the rest as prose."""
    lines = text.split("\n")
    headings = ["", "", ""]
    number = 0
    while number < len(lines):
        here = lines[number]
        fence = _FENCE.match(here) if "``" in here or "~~" in here else None
        heading = " / ".join(filter(None, headings))
        if fence:
            end = _fence_end(lines, number + 1, fence[1])
            kind = Kind.SHELL if fence[2].lower() in SHELL_FENCES else Kind.CODE
            block = "\n".join(lines[number + 1 : end])
            yield Passage(kind=kind, line=line + number + 1, text=block, heading=heading)
            number = end + 1
            continue
        if here.startswith("#"):
            depth = min(len(here) - len(here.lstrip("#")), 3)
            headings[depth - 1 :] = [here.strip("# "), *[""] * (3 - depth)]
        end = number + 1
        if _COMMAND_LINE.match(here):
            while end < len(lines) and lines[end - 1].rstrip().endswith("\\"):
                end += 1
            block = "\n".join(lines[number:end])
            yield Passage(kind=Kind.LINE, line=line + number, text=block, heading=heading)
        else:
            yield from _sentence(here, line=line + number, heading=heading)
        number = end


def _fence_end(lines: list[str], begin: int, mark: str) -> int:
    for number in range(begin, len(lines)):
        if lines[number].lstrip(" \t>").startswith(mark) and not lines[number].strip(" \t>`~"):
            return number
    return len(lines)


def _sentence(text: str, *, line: int, heading: str) -> Iterator[Passage]:
    """A line of prose, and the code within it."""
    if text.strip():
        yield Passage(kind=Kind.PROSE, line=line, text=text, heading=heading)
    if "`" in text:
        for found in _INLINE.finditer(text):
            yield Passage(kind=Kind.INLINE, line=line, text=found[2].strip(), heading=heading)
