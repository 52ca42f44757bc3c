"""Names of any script are taken; those that would break a shell or a file system are not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.spec import names
from windlass.spec.refused import Refused

SLUGS = {
    "llm-pretrain": "llm-pretrain",
    "Grüße aus Köln": "grusse-aus-koln",
    "a  b__c": "a-b-c",
    "2026 run": "run-2026-run",
    "東京": "run",
    "": "run",
    "---": "run",
    "ﬁne": "fine",
    "𝐀bc": "abc",
    "x" * 90: "x" * 40,
    "a" * 39 + " b": "a" * 39,
}


@pytest.mark.parametrize(
    "name", ["a", "1", "a b", "ä", "名前", "a.b_c-d", "x (2), y=3", "क्‍ष", "🚀 go"]
)
def test_a_name_is_taken(name):
    assert names.run_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a" * 101, "a\nb", "a\tb", "a\0b", "\x1b[31m", "a\u202eb", "a\u2028b"),
        *("a/b", "a\\b", "a'b", 'a"b', "$a", "a`b", "a;b", "a|b", "a&b", "a<b", "a>b", "a*", "a?"),
        *("a!", "a:b", "-a", ".a", ".", "..", "a.", " a", "a ", "con", "NUL.txt", "Com1", "\ud800"),
    ],
)
def test_a_name_that_would_break_something_is_refused(name):
    with pytest.raises(Refused) as caught:
        names.run_name(name)
    assert caught.value.code == "bad-name"
    assert caught.value.message.isprintable()
    assert not names.is_run_name(name)


@pytest.mark.parametrize(("name", "slug"), SLUGS.items())
def test_a_slug_is_short_and_readable(name, slug):
    assert names.slug(name) == slug


@given(st.text(max_size=200))
def test_a_slug_is_always_safe_and_its_own_slug(name):
    slug = names.slug(name)
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,39}", slug)
    assert not slug.endswith("-")
    assert names.slug(slug) == slug


@given(st.text(max_size=120))
def test_a_name_that_is_taken_is_printable_and_has_no_forbidden_character(name):
    if names.is_run_name(name):
        assert not set(name) & names.FORBIDDEN
        assert not any(ord(character) < 32 for character in name)


@pytest.mark.parametrize("name", ["A", "_a", "a1", "PATH"])
def test_a_variable_name_is_taken(name):
    assert names.variable_name(name) == name


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "é", "A=B", "A\n", "a" * 300])
def test_what_cannot_name_a_variable_is_refused(name):
    with pytest.raises(Refused) as caught:
        names.variable_name(name)
    assert caught.value.code == "bad-variable"


@pytest.mark.parametrize("name", ["WINDLASS_RUN", "windlass_x"])
def test_variables_of_ours_are_refused(name):
    with pytest.raises(Refused) as caught:
        names.variable_name(name)
    assert caught.value.code == "reserved-name"


@pytest.mark.parametrize(
    ("key", "is_good"),
    [
        *(("team", True), ("a-b_c1", True), ("équipe", True), ("a" * 63, True)),
        *(("", False), ("1a", False), ("-a", False), ("Team", False), ("a.b", False)),
        *(("a" * 64, False), ("é" * 63, True), ("東" * 43, False), ("windlass-run", False)),
        *(("google", False), ("a b", False)),
    ],
)
def test_label_keys_follow_googles_rules(key, is_good):
    if is_good:
        assert names.label_key(key) == key
    else:
        with pytest.raises(Refused):
            names.label_key(key)


@pytest.mark.parametrize(
    ("value", "is_good"),
    [("", True), ("1", True), ("a-b", True), ("A", False), ("a/b", False), ("a" * 64, False)],
)
def test_label_values_follow_googles_rules(value, is_good):
    if is_good:
        assert names.label_value(value) == value
    else:
        with pytest.raises(Refused):
            names.label_value(value)
