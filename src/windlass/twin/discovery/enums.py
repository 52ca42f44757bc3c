"""Enums by number and by name: clients generated from protocol buffers post numbers.

Must not check: a number that is not known stays, and the checker finds it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from windlass.twin.discovery.api import Api
from windlass.twin.discovery.documents import enum_table
from windlass.twin.discovery.formats import is_decimal

Leaf = Callable[[Mapping[str, Any], str, Any], Any]


def enum_names(api: Api, schema: str, body: Any) -> Any:
    """The body with names for numbers wherever the schema has an enum whose numbers are known."""

    def name(field: Mapping[str, Any], hint: str, value: Any) -> Any:
        if "enum" not in field or isinstance(value, bool) or not isinstance(value, int):
            return value
        return _numbers(api.name, api.version, tuple(field["enum"]), hint).get(value, value)

    return _rewritten(api, {"$ref": schema}, body, name)


def enum_numbers(api: Api, schema: str, answer: Any) -> Any:
    """The answer with numbers for names, for a client that asked for them."""

    def number(field: Mapping[str, Any], hint: str, value: Any) -> Any:
        if "enum" not in field or not isinstance(value, str):
            return value
        known = _numbers(api.name, api.version, tuple(field["enum"]), hint)
        return next((number for number, name in known.items() if name == value), value)

    return _rewritten(api, {"$ref": schema}, answer, number)


def plain_numbers(api: Api, schema: str, body: Any) -> Any:
    """The body with each number in the one form of Google's answers, whichever form was sent."""

    def plain(field: Mapping[str, Any], _: str, value: Any) -> Any:
        if isinstance(value, bool):
            return value
        kind, form = field["type"], field.get("format", "")
        if kind == "string" and form in ("int64", "uint64") and isinstance(value, int | float):
            return str(int(value)) if value == value // 1 else value
        if kind == "integer" and isinstance(value, str) and is_decimal(value, form):
            return int(value)
        return value

    return _rewritten(api, {"$ref": schema}, body, plain)


def _rewritten(api: Api, schema: Mapping[str, Any], value: Any, leaf: Leaf, hint: str = "") -> Any:
    """A copy of the value in which `leaf` replaced what is neither object nor list."""
    if "$ref" in schema:
        hint = schema["$ref"]
        schema = api.schemas[hint]
    kind = schema["type"]
    if kind == "object" and isinstance(value, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        return {
            name: inner
            if (field := fields.get(name, others)) is None
            else _rewritten(api, field, inner, leaf, f"{hint}.{name}")
            for name, inner in value.items()
        }
    if kind == "array" and isinstance(value, list):
        return [_rewritten(api, schema["items"], inner, leaf, hint) for inner in value]
    return leaf(schema, hint, value)


@functools.cache
def _numbers(name: str, version: str, names: tuple[str, ...], hint: str) -> dict[int, str]:
    """The numbers of the enum with these names; of several alike, the one named like the field."""
    wanted = set(names)
    # The clients may be older than the document and lack names, but they make none up.
    table = {
        enum: numbers
        for enum, numbers in _table(name, version).items()
        if wanted.issuperset(numbers.values()) and 2 * len(numbers) >= len(wanted)
    }

    def likeness(enum: str) -> tuple[int, int, str]:
        return len(table[enum]), _shared_tail(enum, hint), enum

    if not table:
        return {}
    return {int(number): text for number, text in table[max(table, key=likeness)].items()}


@functools.cache
def _table(name: str, version: str) -> dict[str, dict[str, str]]:
    tables = enum_table()
    # A beta has the numbers of its stable version.
    stable = version.split("alpha")[0].split("beta")[0]
    return tables.get(f"{name}.{version}") or tables.get(f"{name}.{stable}") or {}


def _shared_tail(enum: str, hint: str) -> int:
    """How many letters the ends of two names share, dots and capitals aside."""
    one, other = (text.replace(".", "").lower() for text in (enum, hint))
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count
