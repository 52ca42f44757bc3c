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
"""With no more than the 3,000 IOPS and 140 MiB/s that are not billed."""

# Google's pages on Hyperdisk and on block storage of TPUs, 2026: these take no Persistent Disk.
HYPERDISK_ONLY = frozenset(
    {
        *("a3-ultra", "a4", "a4x", "a4x-max", "g4"),
        *("ct6e", "tpu7x"),
        *("c4", "c4a", "c4d", "n4", "n4a", "n4d", "m4", "x4", "h4d"),
    }
)


def boot_disk(family: str) -> Disk:
    """What machines of this family boot from."""
    return HYPERDISK if family in HYPERDISK_ONLY else PERSISTENT
