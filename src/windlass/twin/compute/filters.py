"""Compute Engine's list filters, in both of their grammars.

Must not fail on what it does not understand: Google answers 400, and so does this.

The old one is `(region eq ".*\\bus\\-east5\\b.*")(status eq UP)`, where a value is a regular
expression that must match as a whole. The new one is `status = RUNNING AND labels.team:vision`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from windlass.twin.refusals import Refusal

Test = Callable[[dict[str, Any]], bool]
TOKEN = re.compile(
    r"""\s*(?:(?P<bracket>[()])
    |(?P<operator><=|>=|!=|=|<|>|:|\beq\b|\bne\b)
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    |'(?P<single>(?:[^'\\]|\\.)*)'
    |(?P<word>[^\s()=<>!:"']+))""",
    re.VERBOSE,
)
MOST_CHARACTERS = 4096


@lru_cache(maxsize=256)
def parsed(text: str) -> Test:
    """Whether a resource passes."""
    if len(text) > MOST_CHARACTERS:
        raise _refused(text)
    tokens = _tokens(text)
    if not tokens:
        return lambda _: True
    reader = _Reader(tokens, text)
    test = reader.either()
    if reader.has_more():
        raise _refused(text)
    return test


def _refused(text: str) -> Refusal:
    message = f"Invalid value for field 'filter': '{text[:200]}'. Invalid list filter expression."
    return Refusal(400, message, reason="invalid")


def _tokens(text: str) -> list[tuple[str, str]]:
    found = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise _refused(text)
        kind = str(match.lastgroup)
        found.append(("word" if kind == "single" else kind, match[kind]))
        at = match.end()
    return found


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[tuple[str, str]], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._at = 0

    def has_more(self) -> bool:
        return self._at < len(self._tokens)

    def either(self) -> Test:
        tests = [self.both()]
        while self._take("word", "OR"):
            tests.append(self.both())
        return tests[0] if len(tests) == 1 else lambda one: any(test(one) for test in tests)

    def both(self) -> Test:
        tests = [self.single()]
        # Expressions that stand side by side must all hold, with or without AND between them.
        while self._take("word", "AND") or self._begins():
            tests.append(self.single())
        return tests[0] if len(tests) == 1 else lambda one: all(test(one) for test in tests)

    def single(self) -> Test:
        if self._take("word", "NOT"):
            inner = self.single()
            return lambda one: not inner(one)
        if self._take("bracket", "("):
            inner = self.either()
            if not self._take("bracket", ")"):
                raise _refused(self._text)
            return inner
        return self._comparison()

    def _comparison(self) -> Test:
        field = self._next("word")
        operator = self._next("operator")
        kind, value = self._tokens[self._at] if self.has_more() else ("", "")
        if kind not in ("word", "quoted"):
            raise _refused(self._text)
        self._at += 1
        try:
            return _compared(field, operator, value)
        except re.error as exc:
            raise _refused(self._text) from exc

    def _begins(self) -> bool:
        return self.has_more() and self._tokens[self._at] not in (("bracket", ")"), ("word", "OR"))

    def _take(self, kind: str, value: str) -> bool:
        if self.has_more() and self._tokens[self._at] == (kind, value):
            self._at += 1
            return True
        return False

    def _next(self, kind: str) -> str:
        if not self.has_more() or self._tokens[self._at][0] != kind:
            raise _refused(self._text)
        self._at += 1
        return self._tokens[self._at - 1][1]


def _compared(field: str, operator: str, value: str) -> Test:
    path = field.split(".")
    if operator in ("eq", "ne"):
        pattern = re.compile(value.replace('\\"', '"'))
        wants = operator == "eq"
        return lambda one: (
            wants == any(pattern.fullmatch(text) is not None for text in _texts(_at(one, path)))
        )
    if operator in ("=", "!="):
        wants = operator == "="
        return lambda one: wants == any(_is_same(text, value) for text in _texts(_at(one, path)))
    if operator == ":":
        wanted = value.lower()
        if wanted == "*":
            return lambda one: bool(_texts(_at(one, path)))
        return lambda one: any(wanted in text.lower() for text in _texts(_at(one, path)))
    return lambda one: any(_is_ordered(text, operator, value) for text in _texts(_at(one, path)))


def _at(value: Any, path: list[str]) -> Any:
    if not path:
        return value
    if isinstance(value, list):
        return [_at(inner, path) for inner in value]
    return _at(value.get(path[0]), path[1:]) if isinstance(value, dict) else None


def _texts(value: Any) -> list[str]:
    if value is None or isinstance(value, dict):
        return []
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _is_same(text: str, value: str) -> bool:
    if "*" in value:
        return re.fullmatch(re.escape(value).replace(r"\*", ".*"), text) is not None
    return text == value


def _is_ordered(text: str, operator: str, value: str) -> bool:
    try:
        left: Any = float(text)
        right: Any = float(value)
    except ValueError:
        left, right = text, value
    return bool(
        {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]
    )
