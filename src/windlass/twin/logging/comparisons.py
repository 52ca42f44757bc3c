"""How a value of a log entry, or of another resource, compares with what a filter says.

Must not parse filters. Text is compared without regard to case, as Logging's query language does;
regular expressions are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from windlass.twin.discovery.names import camel

SEVERITIES = (
    "DEFAULT",
    "DEBUG",
    "INFO",
    "NOTICE",
    "WARNING",
    "ERROR",
    "CRITICAL",
    "ALERT",
    "EMERGENCY",
)
_RANKS = {name: rank for rank, name in enumerate(SEVERITIES)}
_TIMES = re.compile(r"\d{4}-\d\d-\d\d(?:T.*)?")

Test = Callable[[dict[str, Any]], bool]
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def moment(text: str) -> float:
    """Seconds since 1970 of a date or a time of RFC 3339; ValueError for anything else."""
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def compared(path: list[str], operator: str, value: str) -> Test:
    """Whether the field at `path` holds against the value; re.error for a bad expression."""
    test = _tested(operator, value, is_severity=path == ["severity"])
    if operator in ("!=", "!~"):
        return lambda one: all(test(text) for text in texts(at(one, path)))
    if operator == ":" and value == "*":
        return lambda one: at(one, path) is not None
    return lambda one: any(test(text) for text in texts(at(one, path)))


def anywhere(value: str) -> Test:
    """Whether any field has the text in it."""
    wanted = value.lower()
    return lambda one: any(wanted in text.lower() for text in texts(one))


def at(value: Any, path: list[str]) -> Any:
    """What is found there; names may be written with underscores too."""
    for name in path:
        if isinstance(value, list):
            return [at(inner, path[path.index(name) :]) for inner in value]
        if not isinstance(value, dict):
            return None
        value = value.get(name, value.get(camel(name)))
    return value


def texts(value: Any) -> list[str]:
    """Every scalar in it, as text."""
    if value is None:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _tested(operator: str, value: str, *, is_severity: bool) -> Callable[[str], bool]:
    if operator in ("=~", "!~"):
        pattern = re.compile(value)
        return lambda text: (pattern.search(text) is not None) == (operator == "=~")
    wanted = value.lower()
    if operator == ":":
        return lambda text: wanted.strip("*") in text.lower()
    if operator in ("=", "!="):
        return lambda text: _is_same(text, value) == (operator == "=")
    order = ORDERS[operator]
    if is_severity:
        return lambda text: order(_RANKS.get(text, 0), _RANKS.get(value.upper(), 0))
    return lambda text: order(*_comparable(text, value))


def _is_same(text: str, value: str) -> bool:
    if text.lower() == value.lower():
        return True
    left, right = _comparable(text, value)
    return not isinstance(left, str) and bool(left == right)


def _comparable(text: str, value: str) -> tuple[Any, Any]:
    """Both as numbers, both as times, or both as text."""
    if _TIMES.fullmatch(text) and _TIMES.fullmatch(value):
        try:
            return moment(text), moment(value)
        except ValueError:
            return text.lower(), value.lower()
    try:
        return float(text), float(value)
    except ValueError:
        return text.lower(), value.lower()
