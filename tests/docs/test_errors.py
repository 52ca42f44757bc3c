"""Every error that Windlass can raise has a code of its own and a page that helps."""

from __future__ import annotations

import re

import pytest

import tree
from windlass import errors

SECTIONS = ["What happened", "Why", "What to do"]


def leaves(cls: type[errors.WindlassError]) -> list[type[errors.WindlassError]]:
    """The classes below `cls` that have none below them."""
    below = [
        cls_below for cls_below in cls.__subclasses__() if cls_below.__module__ == cls.__module__
    ]
    return [leaf for cls_below in below for leaf in leaves(cls_below)] or [cls]


LEAVES = leaves(errors.WindlassError)
each_leaf = pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)


def page_problems(code: str, text: str) -> list[str]:
    """What a page about an error lacks."""
    problems = []
    if not text.startswith(f"# {code}\n"):
        problems.append(f"the page must begin with `# {code}`")
    if re.findall(r"(?m)^## (.*)$", text) != SECTIONS:
        problems.append(f"the sections must be {SECTIONS}")
    todo = text.partition("## What to do")[2]
    if "`windlass" not in todo and "```" not in todo:
        problems.append("`What to do` must name a command")
    return problems


def test_codes_are_unique():
    codes = [leaf.code for leaf in LEAVES]
    assert sorted(codes) == sorted(set(codes))


@each_leaf
def test_the_code_is_its_own_and_in_kebab_case(leaf):
    assert "code" in vars(leaf)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", leaf.code)


@each_leaf
def test_the_page_says_what_happened_why_and_what_to_do(leaf):
    assert page_problems(leaf.code, tree.text(f"docs/errors/{leaf.code}.md")) == []


def test_every_page_is_about_an_error_that_exists():
    pages = {name for name in tree.files() if re.fullmatch(r"docs/errors/[a-z-]+\.md", name)}
    known = {f"docs/errors/{leaf.code}.md" for leaf in LEAVES}
    assert pages - {"docs/errors/index.md"} == known


@each_leaf
def test_the_list_of_errors_names_it_with_its_exit_status(leaf):
    row = f"| [{leaf.code}]({leaf.code}.md) | {leaf.exit_status} |"
    assert row in tree.text("docs/errors/index.md")


@each_leaf
def test_the_tree_in_the_docstring_names_it(leaf):
    assert re.search(rf"(?m)^ +{leaf.__name__} ", errors.__doc__)


@pytest.mark.parametrize(
    "leaf",
    [leaf for leaf in LEAVES if issubclass(leaf, (errors.UserError, errors.SetupError))],
    ids=lambda leaf: leaf.__name__,
)
def test_what_a_person_must_mend_always_says_how(leaf):
    if leaf is errors.SpecInvalid:
        assert leaf("train.yaml", []).remedy
        return
    with pytest.raises(TypeError, match="remedy"):
        leaf("it does not work")
    assert leaf("it does not work", remedy="Do this.").remedy == "Do this."


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("# other-code\n## What happened\n## Why\n## What to do\n`windlass ps`", 1),
        ("# some-code\n## What happened\n## What to do\n`windlass ps`", 1),
        ("# some-code\n## What happened\n## Why\n## What to do\nThink.", 1),
        ("# some-code\n## What happened\n## Why\n## What to do\n`windlass ps`", 0),
        ("", 3),
    ],
    ids=["wrong title", "a section is missing", "no command", "complete", "no page"],
)
def test_a_page_that_lacks_something_is_found(text, problems):
    assert len(page_problems("some-code", text)) == problems
