"""Why one value of a user's file cannot be taken: raised by the small converters, text to value.

Must not leave this package: reader.py adds the place and makes a Problem of it.
"""

from __future__ import annotations


class Refused(ValueError):
    """A value that cannot be, with the code, the reason and what to write instead."""

    def __init__(self, code: str, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy


def quoted(text: str) -> str:
    """The text between backquotes, cut short and made printable, for use in a message."""
    short = text if len(text) <= 60 else text[:57] + "..."
    return "`" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in short) + "`"
