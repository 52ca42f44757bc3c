"""Partial answers: the part of a JSON value that `fields=` asks for, in Google's grammar.

Must not know schemas: a field that is not there is left out, whether it could exist or not.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from windlass.twin.refusals import Refusal

Tree = dict[str, "Tree"]
"""Selected fields by name; an empty one selects all that is below."""

_TOKEN = re.compile(r"\s*([(),/]|[^(),/\s]+)\s*")


def select(fields: str, value: Any) -> Any:
    """The selected part; all of it for `*`. Refusal (400) for a selection that does not parse."""
    return _picked(_parsed(fields), value)


def _picked(tree: Tree, value: Any) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_picked(tree, each) for each in value]
    if not isinstance(value, dict):
        return value
    others = tree.get("*")
    picked = {}
    for name, inner in value.items():
        below = tree.get(name, others)
        if below is not None:
            picked[name] = _picked(below, inner)
    return picked


@functools.lru_cache(maxsize=256)
def _parsed(fields: str) -> Tree:
    reader = _Reader(fields)
    tree = reader.several()
    if reader.next is not None:
        raise reader.refusal()
    return {} if tree == {"*": {}} else tree


class _Reader:
    """Reads `a,b(c,d/e),f/*` front to back."""

    def __init__(self, fields: str) -> None:
        self._fields = fields
        self._tokens = iter(_TOKEN.findall(fields))
        self.next: str | None = next(self._tokens, None)

    def several(self) -> Tree:
        tree: Tree = {}
        self._one(tree)
        while self._skip(","):
            self._one(tree)
        return tree

    def refusal(self) -> Refusal:
        text = f"Invalid field selection {self._fields}"
        return Refusal(400, text, reason="invalidParameter")

    def _one(self, tree: Tree) -> None:
        name = self.next
        if name is None or name in "(),/":
            raise self.refusal()
        self.next = next(self._tokens, None)
        is_new = name not in tree
        below = tree.setdefault(name, {})
        # A field that was already selected whole stays whole.
        into: Tree = below if is_new or below else {}
        if self._skip("/"):
            self._one(into)
        elif self._skip("("):
            into.update(self.several())
            if not self._skip(")"):
                raise self.refusal()
        else:
            below.clear()

    def _skip(self, token: str) -> bool:
        if self.next != token:
            return False
        self.next = next(self._tokens, None)
        return True
