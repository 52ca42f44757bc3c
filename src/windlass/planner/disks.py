"""Which boot disk a machine takes: not every family can have the usual one.

Must not know prices: the tariff finds them, and names what has none.
"""

from __future__ import annotations

from typing import NamedTuple


class Disk(NamedTuple):
    """One type of boot disk."""

    name: str
    """As Google names it."""
    item: str
    """As the catalog's other prices name its capacity."""


PERSISTENT = Disk(name="pd-balanced", item="pd_balanced")
HYPERDISK = Disk(name="hyperdisk-balanced", item="hyperdisk_balanced_capacity")
"""With no more than the 3,000 IOPS and 140 MiB/s that are not billed: whoever makes the disk has to
ask for that, since Google's default for 100 GiB is more."""

_KNOWN = frozenset({"a3-ultra", "a4", "a4x", "ct6e", "c4", "n4"})
"""Google's pages on Vertex disks, AI Hypercomputer and block storage of TPUs, and what its API
answers to others who tried."""
_TAKEN_TO_BE = frozenset(
    {"a4x-max", "g4", "tpu7x", "c4a", "c4d", "n4a", "n4d", "m4", "x4", "h4d"},
)
"""As new as those, or newer: an assumption."""
HYPERDISK_ONLY = _KNOWN | _TAKEN_TO_BE


def boot_disk(family: str) -> Disk:
    """What machines of this family boot from."""
    return HYPERDISK if family in HYPERDISK_ONLY else PERSISTENT
