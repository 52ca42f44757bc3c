"""A node and its lease: what is lost stays lost, and a cut is not hammered at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from windlass.agent.folder import DiskFolder
from windlass.agent.node import LEASE_S, Ended, Node, Order


class Body:
    """A body whose ranks run until they are killed."""

    def __init__(self) -> None:
        self.is_running = False

    def address(self) -> str:
        return "127.0.0.1:1"

    def prepare(self) -> None:
        pass

    def prepared(self) -> Ended:
        return Ended(0)

    def start(self, addresses: list[str]) -> None:
        self.is_running = True

    def ended(self) -> Ended | None:
        return None if self.is_running else Ended(-9, 0)

    def warn(self, seconds: float, reason: str) -> None:
        pass

    def kill(self) -> None:
        self.is_running = False

    def is_alive(self) -> bool:
        return self.is_running

    def facts(self) -> dict[str, Any]:
        return {}


class CutFolder(DiskFolder):
    is_cut = False

    def write(self, name: str, data: bytes) -> None:
        if self.is_cut:
            raise OSError("cut off")
        super().write(name, data)


def start(tmp_path: Path) -> tuple[Node, Body, CutFolder]:
    folder, body = CutFolder(tmp_path), Body()
    node = Node(folder, Order(1, "r-1-0", 0, 1, 30.0), body)
    node.tick(100.0, 0.0)
    assert node.state == "running" and node.renewed_at == 100.0
    return node, body, folder


def test_a_beat_after_the_lease_has_run_out_does_not_renew_it(tmp_path: Path) -> None:
    node, body, _ = start(tmp_path)
    node.tick(100.0 + LEASE_S, 0.0)
    assert not body.is_running
    assert (node.state, node.outcome) == ("done", "lost")


def test_a_node_that_is_cut_off_does_not_spin(tmp_path: Path) -> None:
    node, body, folder = start(tmp_path)
    folder.is_cut = True
    now, ticks = 100.0, 0
    while not node.is_done:
        now += max(node.tick(now, 0.0), 1e-6)
        ticks += 1
    assert not body.is_running
    assert now <= 100.0 + LEASE_S + 1
    assert ticks < 1000
