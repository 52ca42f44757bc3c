"""What a look at a machine, a project or a file has shown: one thing, a verdict, and its fix.

Must not look at anything. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    name: str
    verdict: str
    """`ok`, `note` (worth knowing) or `bad` (something will not work, or is not allowed)."""
    said: str
    remedy: str = ""
    """What to do, with a command where there is one."""


def ok(name: str, said: str) -> Finding:
    """As it should be."""
    return Finding(name=name, verdict="ok", said=said)


def note(name: str, said: str, remedy: str = "") -> Finding:
    """Worth knowing."""
    return Finding(name=name, verdict="note", said=said, remedy=remedy)


def bad(name: str, said: str, remedy: str) -> Finding:
    """Something will not work, or is not allowed."""
    return Finding(name=name, verdict="bad", said=said, remedy=remedy)
