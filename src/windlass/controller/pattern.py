"""The patterns of a `.gitignore` file, matched the way Git matches them.

Must not touch files. Written here because the walk asks about one entry at a time, as Git does,
while libraries that judge whole paths let `!*/` bring back the files inside a folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_SPECIAL = frozenset("*?[\\")
_STAR = "*"
_DEEP = "(?:.*/)?"
_REST = ".*"
_NEVER = "(?!)"
_NAMED = re.compile(r"\[:([a-z]+):\]")
_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    is_negated: bool
    is_for_folders: bool
    is_for_base: bool
    """Whether it is held against the last part of the name only, at any depth."""
    accepts: Callable[[str], object]

    def matches(self, path: str, base: str, *, is_folder: bool) -> bool:
        """Whether an entry, seen from the folder of the ignore file, is meant."""
        if self.is_for_folders and not is_folder:
            return False
        return bool(self.accepts(base if self.is_for_base else path))


def read_patterns(text: str) -> tuple[Pattern, ...]:
    """The patterns of a file, in its order; lines that Git passes over are left out."""
    found = (_pattern(line) for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(pattern for pattern in found if pattern is not None)


def _pattern(line: str) -> Pattern | None:
    glob = _without_trailing_spaces(line.removesuffix("\r"))
    if glob.startswith("#"):
        return None
    is_negated = glob.startswith("!")
    glob = glob[is_negated:]
    is_for_folders = glob.endswith("/")
    glob = glob[: len(glob) - is_for_folders]
    if not glob:
        return None
    is_for_base = "/" not in glob
    accepts = _acceptor(glob.removeprefix("/"))
    return Pattern(is_negated, is_for_folders, is_for_base, accepts)


def _without_trailing_spaces(line: str) -> str:
    short = line.rstrip(" ")
    # A backslash keeps the space behind it.
    backslashes = len(short) - len(short.rstrip("\\"))
    return short + " " if backslashes % 2 and len(short) < len(line) else short


def _acceptor(glob: str) -> Callable[[str], object]:
    """Plain names, the most of them, are compared; only others pay for a regular expression."""
    if not _SPECIAL & set(glob):
        return glob.__eq__
    tail = glob[1:]
    if glob.startswith("*") and "/" not in tail and not _SPECIAL & set(tail):
        return lambda name: name.endswith(tail) and "/" not in name
    return re.compile(_joined(list(_tokens(glob))), re.DOTALL).fullmatch


def _joined(tokens: list[str]) -> str:
    """One expression. A star that another follows takes the first fit and never looks back, which
    finds a match whenever there is one and keeps the time linear."""
    last = max((index for index, token in enumerate(tokens) if token is _STAR), default=-1)
    pieces: list[str] = []
    is_open = False
    for index, token in enumerate(tokens):
        if is_open and token in (_STAR, _DEEP, _REST):
            pieces.append(")")
            is_open = False
        if token is not _STAR:
            pieces.append(token)
        elif index == last:
            pieces.append("[^/]*")
        else:
            pieces.append("(?>[^/]*?")
            is_open = True
    return "".join(pieces)


def _tokens(glob: str) -> Iterator[str]:
    """The parts of the glob as regular expressions; `*` stays as it is."""
    index = 0
    while index < len(glob):
        character = glob[index]
        if character == "*":
            token, index = _stars(glob, index)
        elif character == "[":
            token, index = _class(glob, index)
        elif character == "\\":
            token = re.escape(glob[index + 1]) if index + 1 < len(glob) else _NEVER
            index += 2
        else:
            token = "[^/]" if character == "?" else re.escape(character)
            index += 1
        yield token


def _stars(glob: str, start: int) -> tuple[str, int]:
    """What a run of stars stands for, and where it ends."""
    end = start
    while glob[end : end + 1] == "*":
        end += 1
    is_whole_part = end - start == 2 and (start == 0 or glob[start - 1] == "/")
    if is_whole_part and end == len(glob):
        return _REST, end
    if is_whole_part and glob[end] == "/":
        return _DEEP, end + 1
    return _STAR, end


def _class(glob: str, start: int) -> tuple[str, int]:
    """A bracket expression, and where it ends. One that never ends matches nothing."""
    index = start + 1
    is_negated = glob[index : index + 1] in ("!", "^")
    index += is_negated
    members: list[str] = []
    is_first = True
    while is_first or glob[index : index + 1] != "]":
        is_first = False
        named = _NAMED.match(glob, index)
        if named:
            members.append(_POSIX.get(named.group(1), ""))
            index = named.end()
            continue
        low, index = _member(glob, index)
        high = low
        if glob[index : index + 1] == "-" and glob[index + 1 : index + 2] not in ("", "]"):
            high, index = _member(glob, index + 1)
        if not low or not high or index >= len(glob):
            return _NEVER, len(glob)
        # Turned round, a range holds only its first character, as in Git.
        members.append(f"{re.escape(low)}-{re.escape(high if low <= high else low)}")
    inside = "".join(members)
    if not inside:
        return ("[^/]" if is_negated else _NEVER), index + 1
    return f"(?!/)[{'^' if is_negated else ''}{inside}]", index + 1


def _member(glob: str, index: int) -> tuple[str, int]:
    """One character of a class, and what follows it; empty at the end of the glob."""
    index += glob[index : index + 1] == "\\"
    return glob[index : index + 1], index + 1
