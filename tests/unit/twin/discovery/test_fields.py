"""A client gets the fields that it asked for."""

from __future__ import annotations

import pytest

from windlass.twin.discovery.fields import select
from windlass.twin.refusals import Refusal

ANSWER = {
    "kind": "list",
    "items": [{"name": "a", "id": "1", "acl": {"owner": {"id": "x"}, "role": "r"}}, {"id": "2"}],
    "nextPageToken": "t",
}
SELECTED = [
    ("*", ANSWER),
    ("kind", {"kind": "list"}),
    (
        "items(name,id),nextPageToken",
        {
            "items": [{"name": "a", "id": "1"}, {"id": "2"}],
            "nextPageToken": "t",
        },
    ),
    ("items/id", {"items": [{"id": "1"}, {"id": "2"}]}),
    ("items/acl/owner/id", {"items": [{"acl": {"owner": {"id": "x"}}}, {}]}),
    ("items(acl(role),id)", {"items": [{"acl": {"role": "r"}, "id": "1"}, {"id": "2"}]}),
    ("items(acl/role)", {"items": [{"acl": {"role": "r"}}, {}]}),
    ("items/acl(role)", {"items": [{"acl": {"role": "r"}}, {}]}),
    ("items/*/role", {"items": [{"name": "a", "id": "1", "acl": {"role": "r"}}, {"id": "2"}]}),
    ("items/name,items/id", {"items": [{"name": "a", "id": "1"}, {"id": "2"}]}),
    ("items,items/id", {"items": ANSWER["items"]}),
    ("items/id,items", {"items": ANSWER["items"]}),
    (" kind , nextPageToken ", {"kind": "list", "nextPageToken": "t"}),
    ("nothing", {}),
    ("*,kind", ANSWER),
]


@pytest.mark.parametrize(("fields", "expected"), SELECTED, ids=[row[0] for row in SELECTED])
def test_the_selected_fields_are_kept(fields, expected):
    assert select(fields, ANSWER) == expected


@pytest.mark.parametrize("fields", ["", ",", "items(", "items(id", "items)", "a//b", "a,", "(a)"])
def test_a_selection_that_does_not_parse_is_refused(fields):
    with pytest.raises(Refusal) as caught:
        select(fields, ANSWER)
    assert (caught.value.code, caught.value.reason) == (400, "invalidParameter")
    assert caught.value.message == f"Invalid field selection {fields}"
