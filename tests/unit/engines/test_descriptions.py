"""Pairs in a description: written and read back, and never read from anybody else's."""

from __future__ import annotations

import pytest

from windlass.engines.descriptions import described, pairs_of


def test_pairs_are_read_back():
    pairs = {"windlass-run": "llm-1", "team": "nlp", "empty": ""}
    assert pairs_of(described(pairs)) == {"windlass": "true", **pairs}


@pytest.mark.parametrize(
    "text",
    ["", "Default network for the project", "windlass=false a=b", "my-windlass=true", "a=b"],
)
def test_what_others_write_is_not_ours(text):
    assert pairs_of(text) == {}
