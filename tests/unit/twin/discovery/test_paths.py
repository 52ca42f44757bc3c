"""Paths are found by template: literal words before variables, and the way back when one fails."""

from __future__ import annotations

import pytest

from windlass.twin.discovery.paths import PathTree

NAME = {"name": "^projects/[^/]+/things/[^/]+$", "deep": "^a/.*$", "any": "[a-z](?:[a-z/]{0,9})?"}
TEMPLATES = [
    ("GET", "v1/{+name}"),
    ("POST", "v1/{+name}:stop"),
    ("GET", "v1/projects/{project}/things/special"),
    ("PUT", "v1/{+deep}"),
    ("GET", "b/{bucket}/o/{object}"),
    ("GET", "z/{+any}/slots/{slot}"),
    ("GET", "z/{+any}/slots"),
    ("GET", "x/{+any}/in/{+deep}"),
    ("GET", "u/{+unbounded}"),
]
FOUND = [
    ("GET", "/v1/projects/p/things/t", 0, {"name": "projects/p/things/t"}),
    ("POST", "/v1/projects/p/things/t:stop", 1, {"name": "projects/p/things/t"}),
    ("GET", "/v1/projects/p/things/t:go", 0, {"name": "projects/p/things/t:go"}),
    ("GET", "/v1/projects/p/things/special", 2, {"project": "p"}),
    ("POST", "/v1/projects/p/things/special:stop", 1, {"name": "projects/p/things/special"}),
    ("PUT", "/v1/a/b/c/d", 3, {"deep": "a/b/c/d"}),
    ("GET", "/b/x/o/y%2Fz", 4, {"bucket": "x", "object": "y/z"}),
    ("GET", "/z/a/b/slots/s", 5, {"any": "a/b", "slot": "s"}),
    ("GET", "/z/a/b/slots", 6, {"any": "a/b"}),
    ("GET", "/x/p/q/in/a/r/s", 7, {"any": "p/q", "deep": "a/r/s"}),
    ("GET", "/u/1/2", 8, {"unbounded": "1/2"}),
]
NOT_FOUND = [
    ("GET", "/"),
    ("GET", "/v1"),
    ("GET", "/v1/projects/p/things"),
    ("GET", "/v1/projects//things/t"),
    ("GET", "/v1/projects/p/things/t/more"),
    ("DELETE", "/v1/projects/p/things/t"),
    ("PUT", "/v1/a"),
    ("GET", "/z/slots"),
]


@pytest.fixture(scope="module")
def tree():
    grown: PathTree[int] = PathTree()
    for number, (http_method, template) in enumerate(TEMPLATES):
        assert grown.add(http_method, template, NAME, number)
    return grown


@pytest.mark.parametrize(("http_method", "path", "leaf", "variables"), FOUND)
def test_a_path_is_found_with_its_variables(tree, http_method, path, leaf, variables):
    assert tree.find(http_method, path) == (leaf, variables)


@pytest.mark.parametrize(("http_method", "path"), NOT_FOUND)
def test_a_path_without_a_template_is_not_found(tree, http_method, path):
    assert tree.find(http_method, path) is None


def test_of_two_equal_templates_the_first_stays(tree):
    assert not tree.add("GET", "b/{other}/o/{name}", {}, 99)
    assert tree.find("GET", "/b/x/o/y") == (4, {"bucket": "x", "object": "y"})


def test_the_methods_of_a_path_are_told(tree):
    assert tree.methods("/v1/projects/p/things/t:stop", ("GET", "POST", "PUT")) == {"GET", "POST"}
