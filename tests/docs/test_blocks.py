"""JSON that pages show is JSON, configurations load, and no page tells where it was written."""

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
# Pages show the home of somebody called Ada, or `~`.
PRIVATE = re.compile(r"(?<![\w.>~}-])/(?:root|tmp|home/(?!ada\b)\w+)/")


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


@pytest.mark.parametrize("name", tree.markdown_files())
def test_no_page_names_a_folder_of_the_machine_on_which_it_was_written(name):
    assert PRIVATE.findall(tree.text(name)) == []


def test_a_folder_of_that_machine_is_found():
    assert PRIVATE.search("see /root/x, or /home/me/y")
    assert not PRIVATE.search("/home/ada/x, ~/tmp/x and a/root/x")
