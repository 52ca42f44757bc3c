"""What an agent is told: the node file of its engine and the claim file of the controller.

Must not act on it. Keys it does not know are ignored, so that older agents read newer files.
"""

from __future__ import annotations

import json
from typing import Any, Dict, NamedTuple, Optional


class NodeOrder(NamedTuple):
    """The node file: which node this is and where it lives."""

    folder: str
    """URL of the run folder."""
    attempt: int
    claim: str
    node: int
    work: str
    """A folder on this machine for this run and node; kept between attempts."""
    address: str
    """The host name or address under which the other nodes reach this one."""
    lock: str
    env: Dict[str, str]
    secrets: Optional[str]
    """Path of a JSON file, readable by its owner only, with the values of the secrets."""
    references: Dict[str, str]
    """Secrets that the node reads for itself: names of versions in Secret Manager."""
    wake: Optional[str]
    """Path of a FIFO into which a byte is written when there is news."""
    watch: Optional[str]
    """`metadata`: the machine's metadata server tells when it will be taken away."""


class Checkpoint(NamedTuple):
    """Where the ranks keep their checkpoints."""

    to: str
    every_s: Optional[float]
    keep: int


class Claim(NamedTuple):
    """The claim file: what the nodes of a claim are to do."""

    run: str
    claim: str
    attempt: int
    nodes: int
    ranks_per_node: int
    launch: str
    command: str
    setup: Optional[str]
    source: Optional[str]
    env: Dict[str, str]
    notice_s: float
    held_s: float
    """How long at most it waits for the attempt before it to end; 0: it need not."""
    emulate_devices: Optional[int]
    checkpoint: Optional[Checkpoint]
    data: Dict[str, str]


def read_node_order(path: str) -> NodeOrder:
    """The node file at `path`."""
    with open(path, "rb") as file:
        said = json.load(file)
    return NodeOrder(
        folder=said["folder"],
        attempt=said["attempt"],
        claim=said["claim"],
        node=said["node"],
        work=said["work"],
        address=said["address"],
        lock=said["lock"],
        env=said.get("env") or {},
        secrets=said.get("secrets"),
        references=said.get("secret_references") or {},
        wake=said.get("wake"),
        watch=said.get("watch"),
    )


def parse_claim(data: bytes) -> Claim:
    """The content of a claim file."""
    said: Dict[str, Any] = json.loads(data)
    kept = said.get("checkpoint")
    return Claim(
        run=said["run"],
        claim=said["claim"],
        attempt=said["attempt"],
        nodes=said["nodes"],
        ranks_per_node=said.get("ranks_per_node") or 1,
        launch=said.get("launch") or "plain",
        command=said["command"],
        setup=said.get("setup"),
        source=said.get("source"),
        env=said.get("env") or {},
        notice_s=float(said.get("notice_s", 30.0)),
        held_s=float(said.get("held_s") or 0.0),
        emulate_devices=said.get("emulate_devices"),
        checkpoint=_checkpoint(kept) if kept else None,
        data=said.get("data") or {},
    )


def _checkpoint(said: Dict[str, Any]) -> Checkpoint:
    return Checkpoint(to=said["to"], every_s=said.get("every_s"), keep=said.get("keep") or 3)


def read_secrets(path: Optional[str]) -> Dict[str, str]:
    """The secrets' values by their name in the environment."""
    if path is None:
        return {}
    with open(path, "rb") as file:
        said: Dict[str, str] = json.load(file)
    return said
