"""JSON that pages show is JSON, and configurations that they show load."""

from __future__ import annotations

import json
import re

import pytest

import pages
import tree
from windlass.spec.config import parse_config
from windlass.spec.keys import CONFIG

BLOCKS = [
    (name, block) for name in tree.markdown_files() for block in pages.blocks(tree.text(name))
]
JSON = [(name, block) for name, block in BLOCKS if block.language == "json"]


def is_config(text):
    """Whether every key of a block is one of `config.yaml`."""
    keys = re.findall(r"(?m)^(\w+):", text)
    return bool(keys) and set(keys) <= set(CONFIG)


CONFIGS = [
    (name, block) for name, block in BLOCKS if block.language == "yaml" and is_config(block.text)
]


@pytest.mark.parametrize(("name", "block"), JSON, ids=[f"{n}:{b.line}" for n, b in JSON])
def test_json_on_a_page_can_be_read(name, block):
    json.loads(block.text)


@pytest.mark.parametrize(("name", "block"), CONFIGS, ids=[f"{n}:{b.line}" for n, b in CONFIGS])
def test_a_configuration_that_is_shown_has_no_problems(name, block):
    parse_config(block.text, path=f"{name}:{block.line}")


def test_the_pages_show_json_and_configurations():
    assert JSON
    assert CONFIGS
