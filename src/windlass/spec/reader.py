"""One mapping of a user's file, read key by key with converters; every fault becomes a problem.

Must not know any key by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from windlass.spec.problems import Place, Problems
from windlass.spec.refused import Refused, quoted
from windlass.spec.suggest import nearest
from windlass.spec.tree import Listing, Node, Scalar, Table

T = TypeVar("T")

NULLS = ("", "~", "null", "Null", "NULL")
_KINDS: dict[type, str] = {Scalar: "text", Listing: "a list", Table: "a mapping"}


class Reader:
    """The keys of one mapping. Methods return None (or nothing) where a problem was added."""

    def __init__(
        self,
        table: Table,
        problems: Problems,
        *,
        title: str,
        keys: Sequence[str],
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:
        """`elsewhere` tells where a key that is not one of `keys` belongs."""
        self.table = table
        self.problems = problems
        self._title = title
        self._nodes: dict[str, Node] = {}
        self._keys: dict[str, Scalar] = {}
        for key, node in table.pairs:
            if key.text in keys:
                self._take(key, node)
            elif not problems.is_full:
                self._report_unknown(key, keys, elsewhere or {})

    def _take(self, key: Scalar, node: Node) -> None:
        if isinstance(node, Scalar) and node.is_plain and node.text in NULLS:
            self.problems.add(
                "value-missing",
                key,
                message=f"`{key.text}` has no value",
                remedy="Give it one, or remove the line.",
            )
            return
        self._nodes[key.text] = node
        self._keys[key.text] = key

    def _report_unknown(
        self, key: Scalar, keys: Sequence[str], elsewhere: Mapping[str, str]
    ) -> None:
        meant = elsewhere.get(key.text) or nearest(key.text, keys)
        meant = meant or elsewhere.get(nearest(key.text, list(elsewhere)) or "")
        self.problems.add(
            "unknown-key",
            key,
            message=f"{quoted(key.text)} is not a key of {self._title}",
            remedy=f"Did you mean `{meant}`?" if meant else f"Keys here: {', '.join(keys)}.",
        )

    def has(self, key: str) -> bool:
        """Whether the file gives this key a value."""
        return key in self._nodes

    def place(self, key: str) -> Place:
        """Where the key stands, or the mapping when it is not there."""
        return self._keys.get(key) or self.table

    def node(self, key: str) -> Node | None:
        """The value of the key as it stands in the file."""
        return self._nodes.get(key)

    def add(self, code: str, place: Place, *, message: str, remedy: str) -> None:
        """Add a problem that several keys make together."""
        self.problems.add(code, place, message=message, remedy=remedy)

    def require(self, key: str, *, example: str) -> None:
        """Add a problem when the key is not there."""
        if not self.has(key) and not any(name.text == key for name, _ in self.table.pairs):
            self.add(
                "key-missing",
                self.table,
                message=f"`{key}` is missing from {self._title}",
                remedy=f"Add it, such as `{key}: {example}`.",
            )

    def scalar(self, key: str, convert: Callable[[str], T]) -> T | None:
        """The converted value of a key that holds text or a number."""
        node = self._nodes.get(key)
        return None if node is None else self.converted(node, key, convert)

    def each(self, key: str, convert: Callable[[str], T]) -> tuple[T, ...]:
        """The converted values of a key that holds a list, or a single value; none twice."""
        node = self._nodes.get(key)
        if node is None:
            return ()
        items = node.items if isinstance(node, Listing) else [node]
        if not items:
            remedy = "Name at least one, or remove the line."
            self.add("empty-list", self.place(key), message=f"`{key}` is empty", remedy=remedy)
        found: list[T] = []
        for item in items:
            value = self.converted(item, key, convert)
            if value is not None and value in found:
                message = f"{quoted(str(value))} is listed twice"
                self.add("duplicate-value", item, message=message, remedy="Keep one of them.")
            elif value is not None:
                found.append(value)
        return tuple(found)

    def named(
        self, key: str, name: Callable[[str], str], *, value: Callable[[str], str]
    ) -> dict[str, str]:
        """A mapping of names to text, both checked."""
        found: dict[str, str] = {}
        for name_node, node in self.pairs(key):
            checked = self.converted(name_node, key, name)
            text = self.converted(node, name_node.text, value)
            if checked is not None and text is not None:
                found[checked] = text
        return found

    def pairs(self, key: str) -> Sequence[tuple[Scalar, Node]]:
        """The pairs of a key that holds a mapping."""
        table = self.inner(key)
        return table.pairs if table is not None else ()

    def inner(self, key: str) -> Table | None:
        """The mapping that the key holds."""
        node = self._nodes.get(key)
        if node is None or isinstance(node, Table):
            return node
        self._report_kind(node, key, "a mapping", f"Put `name: value` lines below `{key}:`.")
        return None

    def converted(self, node: Node, label: str, convert: Callable[[str], T]) -> T | None:
        """The value of one node; `label` names it in the problem."""
        if not isinstance(node, Scalar):
            self._report_kind(node, label, "a single value", "Write one value.")
            return None
        if node.is_plain and node.text in NULLS:
            message = f"a value of {quoted(label)} is empty"
            self.add("value-missing", node, message=message, remedy='Write "" for empty text.')
            return None
        try:
            return convert(node.text)
        except Refused as refused:
            self.add(refused.code, node, message=refused.message, remedy=refused.remedy)
            return None

    def _report_kind(self, node: Node, label: str, wanted: str, remedy: str) -> None:
        message = f"{quoted(label)} must be {wanted}, not {_KINDS[type(node)]}"
        self.add("wrong-type", node, message=message, remedy=remedy)
