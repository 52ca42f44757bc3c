"""Logging's query language, as far as gcloud and the client libraries speak it.

Must not fail on what it does not understand: Google answers 400, and so does this. The filters of
Vertex AI's lists are a part of the same language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from windlass.twin.logging.comparisons import Test, anywhere, compared
from windlass.twin.refusals import Refusal

TOKEN = re.compile(
    r"""\s*(?:--[^\n]*(?:\n|$)
    |(?P<bracket>[()])
    |(?P<operator><=|>=|!=|=~|!~|=|<|>|:)
    |(?P<text>(?:[^\s()=<>!:"',]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+)
    |(?P<comma>,))""",
    re.VERBOSE,
)
QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'")
PART = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^.\"']+")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MOST_CHARACTERS = 20_000
OPENING, CLOSING = ("bracket", "("), ("bracket", ")")


@lru_cache(maxsize=256)
def parsed(text: str) -> Test:
    """Whether an entry passes."""
    if len(text) > MOST_CHARACTERS:
        raise _refused(text, "the filter is too long")
    reader = _Reader(_tokens(text), text)
    if not reader.has_more():
        return lambda _: True
    test = reader.both()
    if reader.has_more():
        raise _refused(text, f"unexpected {reader.next_text()!r}")
    return test


def _refused(text: str, why: str) -> Refusal:
    return Refusal(400, f"Unparseable filter: {why}: {text[:200]}", reason="invalid")


def _tokens(text: str) -> list[tuple[str, str]]:
    found = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise _refused(text, f"syntax error at character {at}")
        if match.lastgroup is not None:
            found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Reader:
    """Reads tokens from left to right. OR binds more tightly than AND in this language."""

    def __init__(self, tokens: list[tuple[str, str]], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._at = 0

    def has_more(self) -> bool:
        return self._at < len(self._tokens)

    def next_text(self) -> str:
        return self._tokens[self._at][1] if self.has_more() else "end"

    def both(self) -> Test:
        tests = [self._either()]
        # Expressions that stand side by side must all hold, with or without AND between them.
        while self._take(("text", "AND")) or self._begins():
            tests.append(self._either())
        return tests[0] if len(tests) == 1 else lambda one: all(test(one) for test in tests)

    def _either(self) -> Test:
        tests = [self._single()]
        while self._take(("text", "OR")):
            tests.append(self._single())
        return tests[0] if len(tests) == 1 else lambda one: any(test(one) for test in tests)

    def _single(self) -> Test:
        if self._take(("text", "NOT")) or self._take(("text", "-")):
            return _negated(self._single())
        if self._take(OPENING):
            inner = self.both()
            self._close()
            return inner
        kind, text = self._tokens[self._at] if self.has_more() else ("", "")
        if kind != "text":
            raise _refused(self._text, f"unexpected {text!r}")
        if text.startswith("-") and len(text) > 1:
            self._tokens[self._at] = (kind, text[1:])
            return _negated(self._single())
        self._at += 1
        return self._about(text)

    def _about(self, text: str) -> Test:
        """A comparison, a function, or text that may stand anywhere."""
        if text.lower() in ("log_id", "search") and self._take(OPENING):
            value = _value(self._word())
            self._close()
            return _ends_in_log(value) if text.lower() == "log_id" else anywhere(value)
        if not self.has_more() or self._tokens[self._at][0] != "operator":
            return anywhere(_value(text))
        operator = self._tokens[self._at][1]
        self._at += 1
        path = _path(text)
        return self._values(lambda value: self._compared(path, operator, value))

    def _values(self, made: Callable[[str], Test]) -> Test:
        """One value, or several in brackets: `field=("a" OR "b")`."""
        if not self._take(OPENING):
            return made(_value(self._word()))
        tests = [self._values(made)]
        is_all = False
        while not self._take(CLOSING):
            is_all = self._take(("text", "AND")) or is_all
            if not is_all and not self._take(("text", "OR")):
                raise _refused(self._text, f"unexpected {self.next_text()!r}")
            tests.append(self._values(made))
        every = all if is_all else any
        return lambda one: every(test(one) for test in tests)

    def _compared(self, path: list[str], operator: str, value: str) -> Test:
        try:
            return compared(path, operator, value)
        except re.error as exc:
            raise _refused(self._text, f"bad regular expression {value!r}") from exc

    def _word(self) -> str:
        if not self.has_more() or self._tokens[self._at][0] != "text":
            raise _refused(self._text, f"unexpected {self.next_text()!r}")
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _begins(self) -> bool:
        return self.has_more() and self._tokens[self._at] not in (CLOSING, ("text", "OR"))

    def _close(self) -> None:
        if not self._take(CLOSING):
            raise _refused(self._text, "a bracket is not closed")

    def _take(self, token: tuple[str, str]) -> bool:
        if self.has_more() and self._tokens[self._at] == token:
            self._at += 1
            return True
        return False


def _negated(test: Test) -> Test:
    return lambda one: not test(one)


def _ends_in_log(log: str) -> Test:
    return lambda one: str(one.get("logName", "")).endswith(f"/logs/{log.replace('/', '%2F')}")


def _path(text: str) -> list[str]:
    return [_value(part) for part in PART.findall(text)]


def _value(text: str) -> str:
    """Without its quotes."""
    found = QUOTED.fullmatch(text)
    if found is None:
        return text
    return ESCAPED.sub(r"\1", found[1] if found[1] is not None else found[2])
