"""Every link between pages leads somewhere."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

import pytest

import pages
import tree

PAGES = {
    "docs/a.md": "# A page\n## Same\n## Same\n[b](sub/b.md#the-end) [folder](sub) `[no](link)`\n",
    "docs/sub/b.md": "# B\n## The `end`\n[back](../a.md#same-1) [me](#the-end) <https://x.y>\n",
}


def broken(texts: dict[str, str], known: set[str]) -> list[str]:
    """Links of `texts` to a file that is not in `known`, or to a heading that is not there."""
    problems = []
    folders = {posixpath.dirname(name) for name in known}
    folders |= {posixpath.dirname(folder) for folder in folders}
    for name, text in texts.items():
        for line, target in pages.links(text):
            if ":" in target.partition("/")[0]:
                continue  # Another site.
            path, _, anchor = target.partition("#")
            here = posixpath.join(posixpath.dirname(name), unquote(path)) if path else name
            there = posixpath.normpath(here)
            if there not in known and there not in folders:
                problems.append(f"{name}:{line}: {target}: there is no such file")
            elif anchor and anchor not in pages.anchors(texts.get(there, "")):
                problems.append(f"{name}:{line}: {target}: there is no such heading")
    return problems


def test_every_relative_link_leads_somewhere():
    found = broken({name: tree.text(name) for name in tree.markdown_files()}, set(tree.files()))
    assert not found, "\n".join(found)


def test_every_page_of_the_docs_can_be_reached_from_the_index():
    seen: set[str] = set()
    open_pages = ["docs/index.md"]
    while open_pages:
        page = open_pages.pop()
        seen.add(page)
        for _, target in pages.links(tree.text(page)):
            there = posixpath.normpath(
                posixpath.join(posixpath.dirname(page), target.split("#")[0])
            )
            if there.startswith("docs/") and there.endswith(".md") and there not in seen:
                open_pages.append(there)
    there_are = {name for name in tree.markdown_files() if name.startswith("docs/")}
    assert there_are - seen == set()


def test_good_links_are_left_alone():
    assert broken(PAGES, set(PAGES)) == []


@pytest.mark.parametrize(
    "link", ["[x](missing.md)", "[x](sub/b.md#missing)", "[x](#missing)", "[x]: sub/missing.md"]
)
def test_a_broken_link_is_found(link):
    spoilt = {**PAGES, "docs/a.md": f"{PAGES['docs/a.md']}{link}\n"}
    assert len(broken(spoilt, set(spoilt))) == 1


def test_links_in_code_are_no_links():
    text = "```\n[x](missing.md)\n```\n`[x](missing.md)`\n"
    assert list(pages.links(text)) == []
