"""Keys are found again where they stand."""

from __future__ import annotations

import pytest

from windlass.spec.places import Places

TEXT = "name: x\nlimits:\n  budget: 5 USD\nlabels: {team: nlp}\n"


@pytest.mark.parametrize(
    ("key", "line", "column"),
    [
        (("name",), 1, 1),
        (("limits", "budget"), 3, 3),
        (("limits", "ttl"), 2, 1),
        (("labels", "team"), 4, 10),
        (("where", "regions"), 1, 1),
        (("name", "inner"), 1, 1),
    ],
)
def test_a_key_is_where_it_stands_or_where_it_would(key, line, column):
    place = Places(TEXT, path="spec.yaml").at(key)
    assert (place.line, place.column) == (line, column)


def test_a_file_that_holds_nothing_has_one_place():
    places = Places("- a\n", path="spec.yaml")
    assert places.at(("name",)).line == 1
    assert places.line(1) == "- a"
