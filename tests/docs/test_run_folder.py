"""The page about the run folder names every object, with an example that has the right fields."""

from __future__ import annotations

import json

import pytest

import pages
import tree
from builders import make_claim, make_run
from windlass.agent import layout
from windlass.agent.folder import DiskFolder
from windlass.agent.node import Ended, Node, Order
from windlass.controller.request import claim_order, facts_of
from windlass.spec.canonical import to_json
from windlass.spec.model import Spec

PAGE = "docs/concepts/run-folder.md"
EXAMPLES = [
    json.loads(block.text) for block in pages.blocks(tree.text(PAGE)) if block.language == "json"
]
N, CLAIM, K, R = "<n>", "<claim>", "<k>", "<r>"
NAMED = [
    layout.SPEC,
    layout.source("<sha>"),
    layout.winner(N),
    layout.claim_file(N, CLAIM),
    layout.go(N, CLAIM),
    layout.end(N, CLAIM),
    layout.gang_notice(N, CLAIM),
    layout.heartbeat(N, CLAIM, K),
    layout.notice(N, CLAIM, K),
    layout.exit_file(N, CLAIM, K),
    layout.setup_log(N, CLAIM, K),
    layout.requests(N, CLAIM, K),
    layout.chunk(f"{layout.rank(N, CLAIM, K, R)}/log", 1, "txt"),
    layout.chunk(f"{layout.rank(N, CLAIM, K, R)}/progress", 1, "jsonl"),
]


class Body:
    """A node whose only rank fails at once."""

    def address(self):
        return "127.0.0.1:1"

    def prepare(self):
        pass

    def prepared(self):
        return Ended(0)

    def start(self, addresses):
        pass

    def ended(self):
        return Ended(3, rank=0, reason="rank 0 on node 0 exited with status 3")

    def warn(self, seconds, reason):
        pass

    def kill(self):
        pass

    def is_alive(self):
        return False

    def facts(self):
        return {"pid": 1, "host": "vm"}


@pytest.fixture
def folder(tmp_path):
    """A run folder in which a node has lived and failed."""
    folder = DiskFolder(tmp_path)
    node = Node(folder, Order(1, "r-1-0", 0, 1, 30.0), Body())
    for second in range(20):
        node.tick(float(second), float(second))
    return folder


def has_example(fields):
    """Whether the page shows an object with exactly these fields."""
    return any(set(example) == set(fields) for example in EXAMPLES)


@pytest.mark.parametrize("name", NAMED)
def test_the_page_names_every_object(name):
    assert f"`{name}" in tree.text(PAGE)


@pytest.mark.parametrize(
    "name",
    [
        layout.winner(1),
        layout.heartbeat(1, "r-1-0", 0),
        layout.end(1, "r-1-0"),
        layout.exit_file(1, "r-1-0", 0),
    ],
)
def test_an_example_has_the_fields_that_agents_write(folder, name):
    assert has_example(json.loads(folder.read(name)))


def test_the_example_of_a_claim_has_the_fields_that_the_controller_writes():
    run = make_run("r", spec=to_json(Spec(name="r", run="true")))
    order = claim_order(facts_of(run), make_claim("r"), folder="file:///r", notice_s=30.0)
    assert has_example(order)


def test_the_example_of_a_notice_has_the_fields_that_agents_write(tmp_path):
    folder = DiskFolder(tmp_path)
    node = Node(folder, Order(1, "r-1-0", 0, 2, 30.0), Body())
    node.tick(0.0, 0.0)
    node.take_away(1.0, 30.0, "it was told to stop")
    assert has_example(json.loads(folder.read(layout.gang_notice(1, "r-1-0"))))
