"""Labels and names of what is rented."""

from __future__ import annotations

import uuid

import pytest

from rented import rented_claim
from windlass.engines.labels import (
    fitted,
    handle_of,
    label_value,
    labels,
    request_id,
    split_handle,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [("Team A", "team-a"), ("a.b/c", "a-b-c"), ("under_score-1", "under_score-1"), ("", "")],
)
def test_a_text_becomes_a_labels_value(text, value):
    assert label_value(text) == value


def test_a_long_text_is_cut_and_still_told_from_others():
    one, other = fitted("x" * 99 + "1", 63), fitted("x" * 99 + "2", 63)
    assert len(one) == len(other) == 63
    assert one != other


def test_our_own_labels_win_over_the_users():
    claim = rented_claim("", labels={"windlass": "no", "Team": "NLP"})
    found = labels(claim)
    assert (found["windlass"], found["team"]) == ("true", "nlp")
    assert found["windlass-expires"] == "1760086400"


def test_a_request_id_is_a_uuid_and_the_same_for_the_same_claim():
    assert uuid.UUID(request_id("r-1-0", "a")).version == 5
    assert request_id("r-1-0", "a") == request_id("r-1-0", "a") != request_id("r-1-1", "a")


def test_a_handle_says_where_and_which():
    assert split_handle(handle_of("us-east5-b", "r-1-0")) == ("us-east5-b", "r-1-0")
