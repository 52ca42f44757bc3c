"""Path templates in one tree, so that a match costs the same however many methods there are.

Must not know what a method is: a leaf is whatever it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import unquote

Leaf = TypeVar("Leaf")

_VARIABLE = re.compile(r"\{(\+?)([^}]+)\}")
_LITERAL = re.compile(r"[A-Za-z0-9_.-]+")
_REST = "**"
_ANY = "*"


@dataclass(frozen=True, slots=True)
class _End(Generic[Leaf]):
    leaf: Leaf
    spans: tuple[tuple[str, int, int], ...]
    """Each variable with its first piece of the template and the one after its last."""


class _Node(Generic[Leaf]):
    __slots__ = ("any", "ends", "literals", "rest")

    def __init__(self) -> None:
        self.literals: dict[str, _Node[Leaf]] = {}
        self.any: _Node[Leaf] | None = None
        self.rest: _Node[Leaf] | None = None
        self.ends: dict[tuple[str, str], _End[Leaf]] = {}


@dataclass(slots=True)
class _Walk(Generic[Leaf]):
    """One search: where it wants to end, and what the `**` on its way took."""

    segments: list[str]
    goal: tuple[str, str]
    taken: list[tuple[int, int]] = field(default_factory=list)

    def down(self, node: _Node[Leaf], at: int, piece: int) -> _End[Leaf] | None:
        """The end below `node` for the segments from `at` on: literals before wildcards."""
        if at == len(self.segments):
            return node.ends.get(self.goal)
        segment = self.segments[at]
        below = node.literals.get(segment)
        if below is not None:
            found = self.down(below, at + 1, piece + 1)
            if found is not None:
                return found
        if node.any is not None and segment:
            found = self.down(node.any, at + 1, piece + 1)
            if found is not None:
                return found
        return None if node.rest is None else self._through(node.rest, at, piece)

    def _through(self, rest: _Node[Leaf], at: int, piece: int) -> _End[Leaf] | None:
        for after in range(len(self.segments), at, -1):
            self.taken.append((piece, after - at - 1))
            found = self.down(rest, after, piece + 1)
            if found is not None:
                return found
            self.taken.pop()
        return None

    def segment(self, piece: int) -> int:
        """Where this piece of the template begins in the path."""
        return piece + sum(more for at, more in self.taken if at < piece)


class PathTree(Generic[Leaf]):
    """Leaves by HTTP method and path template."""

    def __init__(self) -> None:
        self._root: _Node[Leaf] = _Node()
        self._verbs: set[str] = set()

    def add(self, http_method: str, template: str, patterns: Mapping[str, str], leaf: Leaf) -> bool:
        """Whether the template is new; of two equal ones the first stays.

        `patterns` tell the shape of the variables that may span several segments.
        """
        path, verb = _split_verb(template)
        self._verbs.add(verb)
        node, spans, piece = self._root, [], 0
        for word in path.strip("/").split("/"):
            pieces = list(_pieces(word, patterns))
            variable = _VARIABLE.fullmatch(word)
            if variable:
                spans.append((variable[2], piece, piece + len(pieces)))
            piece += len(pieces)
            for each in pieces:
                node = _child(node, each)
        if (http_method, verb) in node.ends:
            return False
        node.ends[http_method, verb] = _End(leaf, tuple(spans))
        return True

    def find(self, http_method: str, path: str) -> tuple[Leaf, dict[str, str]] | None:
        """The leaf for a path as it was sent (still percent-encoded), with its variables."""
        segments = path.removeprefix("/").split("/")
        last, colon, verb = segments[-1].rpartition(":")
        if colon and verb in self._verbs:
            found = self._find(_Walk([*segments[:-1], last], (http_method, verb)))
            if found is not None:
                return found
        return self._find(_Walk(segments, (http_method, "")))

    def methods(self, path: str, known: Iterable[str]) -> set[str]:
        """Those of the known HTTP methods that have a leaf for this path."""
        return {method for method in known if self.find(method, path) is not None}

    def _find(self, walk: _Walk[Leaf]) -> tuple[Leaf, dict[str, str]] | None:
        end = walk.down(self._root, 0, 0)
        if end is None:
            return None
        variables = {}
        for name, first, after in end.spans:
            if walk.taken:
                first, after = walk.segment(first), walk.segment(after)
            text = "/".join(walk.segments[first:after])
            if "%" in text:
                # A slash that is escaped in a name of several segments is part of one of them.
                parts = text.replace("%2f", "%2F").split("%2F")
                text = ("%2F" if after - first > 1 else "/").join(map(unquote, parts))
            variables[name] = text
        return end.leaf, variables


def _split_verb(template: str) -> tuple[str, str]:
    head, colon, verb = template.rpartition(":")
    if colon and "/" not in verb and "}" not in verb:
        return head, verb
    return template, ""


def _child(node: _Node[Leaf], piece: str) -> _Node[Leaf]:
    if piece == _ANY:
        node.any = node.any or _Node()
        return node.any
    if piece == _REST:
        node.rest = node.rest or _Node()
        return node.rest
    return node.literals.setdefault(piece, _Node())


def _pieces(word: str, patterns: Mapping[str, str]) -> Iterator[str]:
    """What one word of a template stands for: a literal, `*` (one segment) or `**` (any number)."""
    variable = _VARIABLE.fullmatch(word)
    if variable is None:
        yield word
    elif not variable[1]:
        yield _ANY
    else:
        pattern = patterns.get(variable[2], ".*")
        yield from _pieces_of_pattern(pattern.removeprefix("^").removesuffix("$"))


def _pieces_of_pattern(pattern: str) -> Iterator[str]:
    # The slash inside the usual class of one segment is no separator; any other class or group
    # with a slash in it may span segments.
    plain = pattern.replace("[^/]+", _ANY)
    if re.search(r"[\[(][^\])]*/", plain):
        yield _REST
        return
    for piece in plain.split("/"):
        if _LITERAL.fullmatch(piece):
            yield piece
        else:
            yield _REST if piece in (".*", ".+") else _ANY
