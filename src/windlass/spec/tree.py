"""YAML text to a tree of nodes, bounded while it is parsed: depth, size, aliases, tags.

Must not give a node a meaning. Works on the parser's events, so that a bomb is refused at the
event that goes too far, before anything is built of it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import yaml

from windlass.spec.problems import At, Place, Problems
from windlass.spec.refused import quoted
from windlass.spec.syntax import add_syntax_problem

DEPTH_MAX = 32
NODES_MAX = 10_000
# Long text weighs more, so that an alias cannot make gigabytes of it.
_CHARACTERS_PER_VALUE = 1024

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = ("!", _CORE + "str")
_PLAIN_TAGS = (None, "!", _CORE + "map", _CORE + "seq")


# Plain classes and not dataclasses, here only: making a dataclass takes a millisecond, and these
# are on the way of every command that reads a file.
class Scalar:
    """Text, as written; `is_plain` when neither quotes nor a tag make it text for certain."""

    __slots__ = ("column", "is_plain", "line", "text")

    def __init__(self, text: str, is_plain: bool, line: int, column: int) -> None:
        self.text = text
        self.is_plain = is_plain
        self.line = line
        self.column = column


class Listing:
    """A sequence."""

    __slots__ = ("column", "items", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column
        self.items: list[Node] = []


class Table:
    """A mapping, its keys in the order of the file and all different."""

    __slots__ = ("column", "line", "pairs")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column
        self.pairs: list[tuple[Scalar, Node]] = []


Node: TypeAlias = Scalar | Listing | Table


class _Measured(NamedTuple):
    """A node with what it costs to walk it, aliases followed."""

    node: Node
    size: int
    height: int
    """How many collections it is deep; 0 for text."""


class _Open:
    """A collection whose end has not been seen."""

    __slots__ = ("anchor", "height", "key", "lines", "node", "size", "skips_value")

    def __init__(self, node: Listing | Table, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.size = 1
        self.height = 0
        self.key: Scalar | None = None
        self.skips_value = False
        self.lines: dict[str, int] = {}
        """Where each key was first seen."""


class _TooMuch(Exception):
    """The file goes past a bound; its problem was added."""


def compose(text: str, problems: Problems) -> Node | None:
    """The one document in the text; None when there is none, or when a problem was added."""
    composer = _Composer(problems)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except _TooMuch:
        return None
    except yaml.YAMLError as exc:
        add_syntax_problem(exc, problems)
        return None
    return composer.root


class _Composer:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Measured] = {}
        self._nodes = 0
        self.root: Node | None = None

    def add(self, code: str, place: Place, message: str, remedy: str) -> None:
        self._problems.add(code, place, message=message, remedy=remedy)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self._stack.pop()
            self._place(_Measured(done.node, done.size, done.height + 1), done.anchor)
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            message = "a second document starts here"
            self._stop("several-documents", _at(event), message, "Keep one spec in a file.")

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        at = _at(event)
        if event.tag is not None and event.tag not in _TEXT_TAGS:
            self._refuse_tag(event.tag, at)
        if "\0" in event.value or not _is_encodable(event.value):
            message = "the text holds a NUL or half a character"
            self.add("not-text", at, message, "Remove the escape that makes it.")
        is_plain = event.tag is None and not event.style
        scalar = Scalar(event.value, is_plain, at.line, at.column)
        size = 1 + len(event.value) // _CHARACTERS_PER_VALUE
        self._place(_Measured(scalar, size, 0), event.anchor)

    def _take_alias(self, event: yaml.AliasEvent) -> None:
        at = _at(event)
        if any(open_.anchor == event.anchor for open_ in self._stack):
            message = f"*{event.anchor} stands inside what it names"
            self._stop("alias-recursive", at, message, "Write the values out.")
        target = self._anchors.get(str(event.anchor))
        if target is None:
            message = f"*{event.anchor} names nothing above it"
            remedy = f"Mark a value with &{event.anchor} first, or quote the text."
            self._stop("alias-unknown", at, message, remedy)
        else:
            self._place(target, None, at)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        at = _at(event)
        if event.tag not in _PLAIN_TAGS:
            self._refuse_tag(event.tag, at)
        if len(self._stack) >= DEPTH_MAX:
            self._stop_too_deep(at)
        is_table = isinstance(event, yaml.MappingStartEvent)
        node = Table(at.line, at.column) if is_table else Listing(at.line, at.column)
        self._stack.append(_Open(node, event.anchor))

    def _place(self, done: _Measured, anchor: str | None, at: Place | None = None) -> None:
        """Put a finished node where it belongs; `at` is where an alias stands for it."""
        place: Place = at or done.node
        if anchor is not None:
            self._anchors[anchor] = done
        if not self._stack:
            self.root = done.node
            return
        parent = self._stack[-1]
        self._nodes += 1
        parent.size += done.size
        parent.height = max(parent.height, done.height)
        if self._nodes > NODES_MAX or parent.size > NODES_MAX:
            message = f"the file holds more than {NODES_MAX} values, aliases followed"
            self._stop("too-many-values", place, message, "Remove what a spec does not need.")
        if len(self._stack) + done.height > DEPTH_MAX:
            self._stop_too_deep(place)
        if isinstance(parent.node, Listing):
            parent.node.items.append(done.node)
        else:
            self._place_in_table(parent, parent.node, done.node, place)

    def _place_in_table(self, parent: _Open, table: Table, node: Node, place: Place) -> None:
        if parent.key is not None:
            table.pairs.append((parent.key, node))
            parent.key = None
        elif parent.skips_value:
            parent.skips_value = False
        else:
            parent.key = self._checked_key(parent, node, place)
            parent.skips_value = parent.key is None

    def _checked_key(self, parent: _Open, node: Node, place: Place) -> Scalar | None:
        """The node as a key. None, with a problem added, when it cannot be one."""
        if not isinstance(node, Scalar):
            self.add("key-not-text", place, "a key must be text", "Quote it, or remove a bracket.")
            return None
        if node.text == "<<" and node.is_plain:
            remedy = "Write the keys out, or use an alias for the whole value."
            self.add("merge-key", place, "merge keys (`<<`) are not read", remedy)
            return None
        first = parent.lines.get(node.text)
        if first is not None:
            message = f"{quoted(node.text)} was given already in line {first}"
            self.add(
                "duplicate-key", place, message, f"Keep one of lines {first} and {place.line}."
            )
            return None
        parent.lines[node.text] = place.line
        return Scalar(node.text, node.is_plain, place.line, place.column)

    def _refuse_tag(self, tag: str, at: Place) -> None:
        shown = tag.replace(_CORE, "!!")
        message = f"the tag {quoted(shown)} is not read"
        self.add("tag-refused", at, message, "Remove the tag: values are read by their key.")

    def _stop_too_deep(self, at: Place) -> None:
        message = f"the file is nested more than {DEPTH_MAX} deep"
        self._stop("nested-too-deep", at, message, "Flatten it: a spec is four levels deep.")

    def _stop(self, code: str, at: Place, message: str, remedy: str) -> None:
        self.add(code, at, message, remedy)
        raise _TooMuch


def _at(event: yaml.Event) -> At:
    mark = event.start_mark
    return At() if mark is None else At(mark.line + 1, mark.column + 1)


def _is_encodable(text: str) -> bool:
    """Whether no half of a surrogate pair is in the text: the Python parser lets them pass."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
