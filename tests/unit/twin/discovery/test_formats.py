"""Google's formats of single values."""

from __future__ import annotations

import re

import pytest

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.documents import available
from windlass.twin.discovery.formats import FORMATS, is_real, is_whole

GOOD = [
    ("int64", "-9223372036854775808"),
    ("int64", "9223372036854775807"),
    ("uint64", "18446744073709551615"),
    ("byte", ""),
    ("byte", "q83vEg=="),
    ("byte", "-_-_"),
    ("byte", "q83vEg"),
    ("google-datetime", "2026-11-15T09:00:00Z"),
    ("google-datetime", "2026-11-15T09:00:00.123456789Z"),
    ("google-datetime", "2026-12-31T23:59:60Z"),
    ("date-time", "2026-11-15T01:00:00.5-08:00"),
    ("google-duration", "3.5s"),
    ("google-duration", "-0s"),
    ("date", "2028-02-29"),
]
BAD = [
    ("int64", "9223372036854775808"),
    ("int64", "1e3"),
    ("int64", ""),
    ("int64", " 1"),
    ("uint64", "-1"),
    ("byte", "a%b"),
    ("byte", "abcde"),
    ("google-datetime", "2026-11-15"),
    ("google-datetime", "2026-02-30T00:00:00Z"),
    ("google-datetime", "2026-11-15T09:00:00"),
    ("google-datetime", "2026-11-15 09:00:00Z"),
    ("google-duration", "3.5"),
    ("google-duration", "3m"),
    ("date", "2026-02-30"),
]


@pytest.mark.parametrize(("form", "text"), GOOD)
def test_a_value_in_its_format_is_taken(form, text):
    assert FORMATS[form][1](text)


@pytest.mark.parametrize(("form", "text"), BAD)
def test_a_value_that_is_not_in_its_format_is_not(form, text):
    assert not FORMATS[form][1](text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, True), (5.0, True), (5.5, False), (True, False), ("5", False), (2**31, False)]
    + [(float("nan"), False), (float("inf"), False), (-(2**31), True)],
)
def test_whole_numbers_are_told_from_others(value, expected):
    assert is_whole(value, "int32") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.5e3", True), ("NaN", True), ("-Infinity", True), ("nan", False), ("inf", False)]
    + [("", False), ("x", False)],
)
def test_real_numbers_in_text_are_told_from_others(text, expected):
    assert is_real(text) is expected


def test_every_format_and_pattern_in_the_documents_is_understood():
    known = {*FORMATS, "int32", "uint32", "float", "double", "google-fieldmask", ""}
    known |= {"google.protobuf.Any", "google.protobuf.Value"}
    formats, patterns = set(), set()

    def visit(schema):
        formats.add(schema.get("format", ""))
        patterns.add(schema.get("pattern", ""))
        inner = [*schema.get("properties", {}).values()]
        inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
        for each in inner:
            visit(each)

    for name, versions in available().items():
        for version in versions:
            for schema in load_api(name, version).schemas.values():
                visit(schema)
    assert formats <= known
    for pattern in patterns:
        re.compile(pattern)
