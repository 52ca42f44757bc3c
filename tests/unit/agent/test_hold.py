"""Machines that were asked for ahead wait for their turn, and leave when it does not come."""

from __future__ import annotations

import json

import pytest

from windlass.agent import layout
from windlass.agent.folder import DiskFolder
from windlass.agent.node import Node, Order

HELD_S = 100.0


class Body:
    """Notes whether anything was begun."""

    is_begun = False

    def address(self):
        return "here:1"

    def facts(self):
        return {}

    def prepare(self):
        self.is_begun = True

    def prepared(self):
        return None


@pytest.fixture
def folder(tmp_path):
    return DiskFolder(tmp_path)


def held(folder, *, held_s=HELD_S, claim="r-2-0", node=0):
    return Node(folder, Order(2, claim, node, 1, 30.0, held_s), Body())


def open_to(folder, *claims):
    folder.create(layout.opened(2), json.dumps({"claims": claims}).encode())


def go_on(node, since, until):
    """Tick it every two seconds, as a loop would."""
    for now in range(since, until, 2):
        node.tick(float(now), 0.0)


def exit_of(folder, claim="r-2-0"):
    said = folder.read(layout.exit_file(2, claim, 0))
    return said and json.loads(said)["outcome"]


def test_a_node_that_is_not_held_wins_at_once(folder):
    node = held(folder, held_s=0.0)
    node.tick(0.0, 0.0)
    assert node.body.is_begun


def test_one_that_is_held_beats_and_begins_nothing(folder):
    node = held(folder)
    go_on(node, 0, 90)
    assert node.state == "waiting"
    assert json.loads(folder.read(layout.heartbeat(2, "r-2-0", 0)))["beat"] > 40
    assert folder.read(layout.winner(2)) is None


def test_it_begins_when_its_attempt_is_opened_to_it(folder):
    node = held(folder)
    node.tick(0.0, 0.0)
    open_to(folder, "r-2-0")
    node.tick(2.0, 0.0)
    assert node.body.is_begun
    assert json.loads(folder.read(layout.winner(2)))["claim"] == "r-2-0"


def test_it_leaves_when_it_was_opened_to_others(folder):
    node = held(folder)
    open_to(folder, "r-2-1")
    node.tick(0.0, 0.0)
    assert (node.is_done, node.body.is_begun, exit_of(folder)) == (True, False, "given-up")
    assert folder.read(layout.winner(2)) is None


def test_it_leaves_when_nobody_came_for_too_long(folder):
    node = held(folder)
    go_on(node, 1000, 1100)
    assert not node.is_done
    go_on(node, 1100, 1102)
    assert (node.is_done, exit_of(folder)) == (True, "given-up")


def test_it_leaves_when_another_claim_has_won(folder):
    folder.create(layout.winner(2), json.dumps({"claim": "r-2-1"}).encode())
    node = held(folder)
    node.tick(0.0, 0.0)
    assert (node.is_done, node.body.is_begun) == (True, False)


def test_once_opened_it_waits_for_its_peers_as_long_as_it_takes(folder):
    node = Node(folder, Order(2, "r-2-0", 0, 2, 30.0, HELD_S), Body())
    open_to(folder, "r-2-0")
    go_on(node, 0, 2 * int(HELD_S))
    assert node.state == "waiting"
