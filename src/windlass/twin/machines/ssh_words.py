"""Reads the command lines of ssh and scp as far as a machine of the twin needs them.

Must not run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SSH_WITH_VALUE = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
SCP_WITH_VALUE = frozenset("cDFiJloPSX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ssh:
    """What an ssh command line asks for."""

    host: str = ""
    user: str = ""
    command: str = ""
    terminals: int = 0
    """How often a terminal was asked for; -1 for one that must not be."""
    has_command: bool = True
    """Not with -N, which only keeps the connection."""
    has_input: bool = True
    """Not with -n."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scp:
    """What an scp command line asks for."""

    places: tuple[str, ...]
    is_deep: bool


def _split(words: Sequence[str], with_value: frozenset[str]) -> tuple[list[tuple[str, str]], int]:
    """The options at the front, with their values, and how many words they are."""
    options: list[tuple[str, str]] = []
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        letters = words[at][1:]
        at += 1
        for index, letter in enumerate(letters):
            if letter not in with_value:
                options.append((letter, ""))
                continue
            value = letters[index + 1 :]
            if not value and at < len(words):
                value = words[at]
                at += 1
            options.append((letter, value))
            break
    return options, at


def read_ssh(words: Sequence[str]) -> Ssh:
    """Options may stand on both sides of the host; the rest is the command."""
    options, at = _split(words, SSH_WITH_VALUE)
    rest = list(words[at:])
    if rest[:1] == ["--"]:
        rest.pop(0)
    target = rest.pop(0) if rest else ""
    later, at = _split(rest, SSH_WITH_VALUE)
    options += later
    rest = rest[at:]
    if rest[:1] == ["--"]:
        rest.pop(0)
    target = target.removeprefix("ssh://")
    user, _, host = target.rpartition("@")
    chosen = dict(options)
    letters = [letter for letter, _ in options]
    return Ssh(
        host=host,
        user=user or chosen.get("l", ""),
        command=" ".join(rest),
        terminals=-1 if "T" in letters else letters.count("t"),
        has_command="N" not in letters,
        has_input="n" not in letters,
    )


def read_scp(words: Sequence[str]) -> Scp:
    """The places behind the options, the last being where to."""
    options, at = _split(words, SCP_WITH_VALUE)
    rest = list(words[at:])
    if rest[:1] == ["--"]:
        rest.pop(0)
    return Scp(places=tuple(rest), is_deep=any(letter == "r" for letter, _ in options))


def read_place(place: str) -> tuple[str, str, str]:
    """`[user@]host:path` as user, host and path; a path of this host has no host."""
    head, colon, path = place.partition(":")
    if not colon or "/" in head:
        return "", "", place
    user, _, host = head.rpartition("@")
    return user, host, path
