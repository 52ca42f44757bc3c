"""A gcloud call understood by gcloud's own table: track, path, flags, positionals.

Must not judge it (the rules do).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from windlass.gcloudlint.finding import END, Edit
from windlass.gcloudlint.shell import Call, Word
from windlass.gcloudlint.surface import ANY, TRACKS, Flags, Surface

_NAME = re.compile(r"-{1,2}[A-Za-z][\w-]*$")
_UNWRITTEN = re.compile(r"[\[\]{}…]|\.\.\.|^[A-Z][A-Z0-9_]*$|YOUR|REPLACE|\bmy-")
"""Marks of a synopsis, and of what the reader is to fill in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A flag of a call, with its value."""

    name: str
    value: str
    """Empty for a flag without one."""
    at: int
    last: int
    """The index of its last word: not `at` when the value is a word of its own."""
    is_open: bool
    is_known: bool

    @property
    def is_literal(self) -> bool:
        """Whether the value is what gcloud will get, and no place to fill in."""
        return bool(self.value) and not self.is_open and not _UNWRITTEN.search(self.value)

    def pairs(self) -> dict[str, str]:
        """The value of a flag that takes `key=value,...`."""
        parts = (part.partition("=") for part in self.value.split(","))
        return {key: value for key, _, value in parts}

    def become(self, name: str, value: str | None = None) -> tuple[Edit, ...]:
        """The edits that put another flag, or another value, in its place."""
        written = name if value is None else f"{name}={_quoted(value)}"
        dropped = tuple(Edit(at=index, text=None) for index in range(self.at + 1, self.last + 1))
        return (Edit(at=self.at, text=written), *dropped)

    def drop(self) -> tuple[Edit, ...]:
        """The edits that take it away."""
        return tuple(Edit(at=index, text=None) for index in range(self.at, self.last + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A call of gcloud."""

    call: Call
    track: str
    """`alpha`, `beta`, `preview`, or nothing."""
    names: tuple[str, ...]
    """The words of the path that gcloud knows, without the track."""
    places: tuple[int, ...]
    """The index of each of them."""
    stranger: int | None
    """The index of the word that should have gone on with the path, and is not known."""
    flags: tuple[Flag, ...]
    positionals: tuple[Word, ...]

    @property
    def path(self) -> str:
        """Without the track."""
        return " ".join(self.names)

    @property
    def full_path(self) -> str:
        """With the track."""
        return f"{self.track} {self.path}".strip()

    def flag(self, *names: str) -> Flag | None:
        """The first flag of one of these names."""
        return next((flag for flag in self.flags if flag.name in names), None)

    def literal(self, *names: str) -> str:
        """What that flag says; empty when there is none or it is known only when it runs."""
        flag = self.flag(*names)
        return flag.value if flag and flag.is_literal else ""


def added(flag: str) -> Edit:
    """The edit that adds a flag at the end."""
    return Edit(at=END, text=flag)


def parsed(call: Call, surface: Surface) -> Command:
    """A call as gcloud would read it."""
    names, places, stranger, track = _walked(call, surface)
    path = " ".join(filter(None, (track, *names)))
    flags, positionals = _arguments(call, surface, path, skipped={0, *places})
    return Command(
        call=call,
        track=track,
        names=tuple(names),
        places=tuple(places),
        stranger=stranger,
        flags=flags,
        positionals=positionals,
    )


def _walked(call: Call, surface: Surface) -> tuple[list[str], list[int], int | None, str]:
    """Follow the words down the tree of commands."""
    names: list[str] = []
    places: list[int] = []
    track, at, own = "", 1, surface.flags("")
    while at < len(call.words):
        word = call.words[at]
        path = " ".join(filter(None, (track, *names)))
        if word.text.startswith("-"):
            at += 1 if own.get(word.text) is None else 2
            continue
        if not surface.children(path) or word.is_open or _UNWRITTEN.search(word.text):
            break
        if word.text not in surface.children(path):
            return names, places, at, track
        if not names and not track and word.text in TRACKS:
            track = word.text
        else:
            names.append(word.text)
        places.append(at)
        at += 1
    return names, places, None, track


def _arguments(
    call: Call, surface: Surface, path: str, *, skipped: set[int]
) -> tuple[tuple[Flag, ...], tuple[Word, ...]]:
    known = surface.flags(path)
    flags, positionals, at = [], [], 0
    while at < len(call.words):
        word = call.words[at]
        if word.raw == "--":
            break
        if at in skipped or word.text in ("\\", "...", "…"):
            at += 1
            continue
        name, equals, value = word.text.partition("=")
        if not _NAME.match(name):
            positionals.append(word)
            at += 1
            continue
        takes = known.get(name)
        last, is_open = at, word.is_open
        if takes is not None and not equals and at + 1 < len(call.words):
            last, value = at + 1, call.words[at + 1].text
            is_open = is_open or call.words[at + 1].is_open
        is_known = name in known or _is_negated(name, known)
        flags.append(
            Flag(name=name, value=value, at=at, last=last, is_open=is_open, is_known=is_known)
        )
        at = last + 1
    return tuple(flags), tuple(positionals)


def _is_negated(name: str, known: Flags) -> bool:
    """`--no-x` of a flag `--x` that takes no value."""
    plain = name.replace("--no-", "--", 1)
    return plain in known and known[plain] is None


def choices_of(takes: str | None) -> tuple[str, ...]:
    """What a flag may be given; nothing when it takes any value."""
    return tuple(takes.split(",")) if takes is not None and takes != ANY else ()


def _quoted(value: str) -> str:
    if re.search(r"[\s'\"*?$`&|;<>()#]", value):
        return '"' + value.replace('"', '\\"') + '"'
    return value
