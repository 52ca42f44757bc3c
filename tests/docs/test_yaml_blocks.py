"""Every spec that the pages show is a spec that Windlass takes."""

from __future__ import annotations

import pytest

import pages
import tree
from windlass.errors import SpecInvalid
from windlass.spec.load import parse_spec

EXCUSE = "# not a spec"


def specs(text: str) -> list[pages.Block]:
    """The blocks of a page that are meant to be whole specs."""
    return [
        block
        for block in pages.blocks(text)
        if block.language in ("yaml", "yml")
        and any(line.startswith("run:") for line in block.text.splitlines())
        and EXCUSE not in block.text
    ]


SHOWN = [(name, block) for name in tree.markdown_files() for block in specs(tree.text(name))]


def test_the_pages_show_specs():
    assert SHOWN


@pytest.mark.parametrize(
    ("name", "block"), SHOWN, ids=[f"{name}:{block.line}" for name, block in SHOWN]
)
def test_a_spec_that_is_shown_has_no_problems(name, block):
    parse_spec(block.text, path=f"{name}:{block.line}", folder=None)


def test_a_spec_with_a_misspelt_key_is_found():
    page = "```yaml\nname: x\nrun: echo\nresorces: {nodes: 2}\n```\n"
    [block] = specs(page)
    with pytest.raises(SpecInvalid):
        parse_spec(block.text, path="page.md", folder=None)


def test_fragments_and_excused_blocks_are_left_alone():
    assert (
        specs("```yaml\nnodes: 2\n```\n```yaml\n# not a spec\nrun: ?\n```\n```sh\nrun: x\n```\n")
        == []
    )
