"""Lists are cut, grouped and paged as at Google."""

from __future__ import annotations

import pytest

from windlass.twin.storage.listing import successor

NAMES = ["a", "a/", "a/b", "a/b/c", "a/d", "b", "b/x", "ä/ö", "z-\U0001f600"]
LIST = "/storage/v1/b/shelf/o"


@pytest.fixture
def full(client):
    for name in NAMES:
        client.put(name)
    return client


@pytest.mark.parametrize(
    ("query", "items", "prefixes"),
    [
        ({}, NAMES, []),
        ({"prefix": "a/"}, ["a/", "a/b", "a/b/c", "a/d"], []),
        ({"delimiter": "/"}, ["a", "b", "z-\U0001f600"], ["a/", "b/", "ä/"]),
        ({"delimiter": "/", "prefix": "a"}, ["a"], ["a/"]),
        ({"delimiter": "/", "prefix": "a/"}, ["a/", "a/b", "a/d"], ["a/b/"]),
        (
            {"delimiter": "/", "includeTrailingDelimiter": True},
            ["a", "a/", "b", "z-\U0001f600"],
            ["a/", "b/", "ä/"],
        ),
        ({"startOffset": "a/d", "endOffset": "b/x"}, ["a/d", "b"], []),
        ({"startOffset": "b", "delimiter": "/"}, ["b", "z-\U0001f600"], ["b/", "ä/"]),
        ({"matchGlob": "a/*"}, ["a/", "a/b", "a/d"], []),
        ({"matchGlob": "a/**"}, ["a/", "a/b", "a/b/c", "a/d"], []),
        ({"matchGlob": "?"}, ["a", "b"], []),
        ({"matchGlob": "{a,b}/[b-x]"}, ["a/b", "a/d", "b/x"], []),
        ({"matchGlob": "[!a]"}, ["b"], []),
        ({"prefix": "nothing"}, [], []),
        (
            {"delimiter": "b/"},
            ["a", "a/", "a/b", "a/d", "b", "ä/ö", "z-\U0001f600"],
            ["a/b/", "b/"],
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [1, 2, 1000])
def test_every_page_together_is_the_list(full, query, items, prefixes, most):
    found: list[str] = []
    groups: list[str] = []
    token: dict[str, str] = {}
    while True:
        page = full.json("GET", LIST, maxResults=most, **query, **token)
        found += [item["name"] for item in page.get("items", [])]
        groups += page.get("prefixes", [])
        if "includeTrailingDelimiter" not in query:
            assert len(page.get("items", [])) + len(page.get("prefixes", [])) <= most
        if "nextPageToken" not in page:
            break
        token = {"pageToken": page["nextPageToken"]}
    assert found == sorted(items)
    assert groups == sorted(prefixes)


def test_versions_of_a_name_come_oldest_first_over_pages(client):
    client.json("PATCH", "/storage/v1/b/shelf", body={"versioning": {"enabled": True}})
    made = [client.put("a")["generation"] for _ in range(5)]
    found: list[str] = []
    token: dict[str, str] = {}
    while True:
        page = client.json("GET", LIST, versions=True, maxResults=2, **token)
        found += [item["generation"] for item in page["items"]]
        if "nextPageToken" not in page:
            break
        token = {"pageToken": page["nextPageToken"]}
    assert found == made


@pytest.mark.parametrize(
    "query", [{"pageToken": "%%%"}, {"matchGlob": "{a"}, {"matchGlob": "[z-a]"}]
)
def test_what_makes_no_sense_is_refused(client, query):
    client.refused("GET", LIST, 400, **query)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("a", "b"),
        ("", ""),
        ("\ud7ff", "\ue000"),
        ("a\U0010ffff", "b"),
        ("\U0010ffff", ""),
    ],
)
def test_the_name_behind_a_prefix(prefix, expected):
    assert successor(prefix) == expected
