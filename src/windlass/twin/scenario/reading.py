"""Reads a YAML file strictly: every value where it stands, every mistake at once.

Must not know what a scenario is.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from windlass.errors import Problem, SpecInvalid

Parser = Callable[[str], Any]


class Wrong(Exception):
    """A value that cannot be; says what would do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class File:
    """A text and what is wrong with it."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._text = text
        self._problems: list[Problem] = []

    def root(self) -> yaml.Node | None:
        """What the file holds; None for an empty one."""
        try:
            node: yaml.Node | None = yaml.compose(self._text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            said = f"this is not YAML: {exc.problem or exc.context}"
            where = (mark.line, mark.column) if mark is not None else (0, 0)
            self._note(where, said, "See to indentation, colons and quotes.")
            raise self.error() from exc
        return node

    def note(self, node: yaml.Node, message: str, remedy: str) -> None:
        """Something is wrong there."""
        mark = node.start_mark
        self._note((mark.line, mark.column), message, remedy)

    def raise_if_wrong(self) -> None:
        """SpecInvalid with everything that was noted."""
        if self._problems:
            raise self.error()

    def error(self) -> SpecInvalid:
        """Everything that was noted, in the order of the file."""
        order = sorted(self._problems, key=lambda one: (one.line, one.column))
        return SpecInvalid(self._path, order)

    def _note(self, where: tuple[int, int], message: str, remedy: str) -> None:
        line, column = where
        self._problems.append(
            Problem(
                code="scenario",
                path=self._path,
                line=line + 1,
                column=column + 1,
                message=message,
                remedy=remedy,
                source=self._lines[line] if line < len(self._lines) else "",
            )
        )

    # --- what a node holds

    def entries(self, node: yaml.Node) -> Iterator[yaml.Node]:
        """The entries of a list; a single one may stand without the list."""
        if isinstance(node, yaml.SequenceNode):
            yield from node.value
        elif not _is_nothing(node):
            yield node

    def pairs(self, node: yaml.Node) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """Keys and values, with the node of the key; a key may stand there once."""
        if not isinstance(node, yaml.MappingNode):
            if not _is_nothing(node):
                self.note(node, "this must be keys and values", "Write `key: value`.")
            return
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                self.note(key, f"{name} is there twice", "Remove one of them.")
            seen.add(name)
            yield name, key, value

    def fields(
        self, node: yaml.Node, parsers: Mapping[str, Parser], *, required: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The values of an entry by key, each read by its parser. What is wrong is left out."""
        found: dict[str, Any] = {}
        present: set[str] = set()
        for name, key, value in self.pairs(node):
            parser = parsers.get(name)
            if parser is None:
                self.unknown(key, name, list(parsers))
                continue
            present.add(name)
            self._read(found, name, value, parser)
        for name in required:
            if name not in present and isinstance(node, yaml.MappingNode):
                self.note(node, f"{name} is missing", f"Add `{name}: …`.")
        return found

    def unknown(self, key: yaml.Node, name: str, known: list[str]) -> None:
        """A key that means nothing here."""
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Known are {', '.join(known)}."
        self.note(key, f"{name} is not a key here", hint)

    def _read(self, found: dict[str, Any], name: str, value: yaml.Node, parser: Parser) -> None:
        text = self.scalar(value, name)
        if text is None:
            return
        try:
            found[name] = parser(text)
        except Wrong as wrong:
            self.note(value, f"{name}: {wrong.message}", wrong.remedy)

    def scalar(self, node: yaml.Node, name: str) -> str | None:
        """The text of a single value."""
        if isinstance(node, yaml.ScalarNode) and not _is_nothing(node):
            return str(node.value)
        self.note(node, f"{name} must be a single value", f"Write `{name}: …` on one line.")
        return None


def _is_nothing(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"
