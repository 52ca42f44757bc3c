"""How a person gets a shell on a node at Google: the gcloud command that goes through IAP.

Must not run it, nor open a tunnel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from windlass.engines.labels import label_value
from windlass.governance.holdings import Holding

MACHINE = "gcloud compute ssh".split()
SLICE = "gcloud alpha compute tpus tpu-vm ssh".split()
IAP = "--tunnel-through-iap"


class Shell(NamedTuple):
    """One node, and the command that leads there."""

    node: int
    name: str
    place: str
    claim: str
    words: tuple[str, ...]


def shells(
    holdings: Iterable[Holding], run_id: str, *, project: str, winner: str = ""
) -> list[Shell]:
    """The nodes of a run that have machines now, in their order. While a race is on, several
    claims have the same nodes; those of the winner are shown alone."""
    wanted = label_value(run_id)
    mine = sorted(
        (one for one in holdings if one.run == wanted),
        key=lambda one: (one.claim, _number(one.name)),
    )
    found = [*_machines(mine, project), *_workers(mine, project)]
    won = [shell for shell in found if winner and shell.claim == label_value(winner)]
    return sorted(won or found, key=lambda shell: (shell.claim, shell.node))


def _machines(holdings: Sequence[Holding], project: str) -> Iterator[Shell]:
    for one in holdings:
        if one.kind == "instance":
            words = (*MACHINE, one.name, *_flags(one, project), IAP)
            yield Shell(_number(one.name), one.name, one.place, one.claim, words)


def _workers(holdings: Sequence[Holding], project: str) -> Iterator[Shell]:
    """Each host of each slice is a node; only the alpha command knows tunnels."""
    counts: dict[str, int] = {}
    for one in holdings:
        if one.kind != "slice":
            continue
        for worker in range(len(one.raw.get("networkEndpoints") or ()) or 1):
            node = counts.get(one.claim, 0)
            counts[one.claim] = node + 1
            words = (*SLICE, one.name, *_flags(one, project), f"--worker={worker}", IAP)
            yield Shell(node, one.name, one.place, one.claim, words)


def _flags(one: Holding, project: str) -> tuple[str, str]:
    return f"--zone={one.place}", f"--project={project}"


def _number(name: str) -> int:
    """The number that a name ends in."""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
