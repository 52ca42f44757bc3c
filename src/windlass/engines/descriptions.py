"""Pairs in a description: what stands for labels where Google has none.

Must not look anything up. Pure. Networks, subnetworks, firewall rules, routers, groups of machines
and placement policies are found again by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from windlass.engines.labels import OURS

PAIR = re.compile(r"(?:^|\s)([a-z][a-z0-9_-]*)=([a-z0-9_-]*)(?=\s|$)")


def described(pairs: Mapping[str, str]) -> str:
    """A description with these pairs, which are made as labels are; ours among them."""
    return " ".join(f"{key}={value}" for key, value in {OURS: "true", **pairs}.items())


def pairs_of(description: str) -> dict[str, str]:
    """The pairs of a description of ours; none of anybody else's."""
    found = dict(PAIR.findall(description))
    return found if found.get(OURS) == "true" else {}
