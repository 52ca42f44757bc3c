"""Makes the compact form of a catalog out of tables.

Must not read files (tables.py does) nor judge what it makes (check.py does).
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.container import compose
from windlass.catalog.load import OFFERS
from windlass.catalog.pack_offers import OffersPacking
from windlass.catalog.pack_tables import (
    Names,
    packed_chips,
    packed_image,
    packed_local_ssd,
    packed_machines,
    packed_other_prices,
    packed_slices,
)
from windlass.catalog.query import CPU
from windlass.catalog.tables import Tables


def packed(tables: Tables, *, snapshot: str) -> bytes:
    """The compact file. Complaints are left in `tables.complaints`."""
    names = Names(tables)
    chips = packed_chips(tables, names)
    machines = packed_machines(tables, names)
    slices = packed_slices(tables, names, machines)
    offers = OffersPacking(tables, names, machines=machines, slices=slices).packed()
    sections: dict[str, Any] = {
        "chips": chips,
        "machines": dict(sorted(machines.items())),
        "slices": slices,
        "zones": sorted({row.text("zone") for row in tables["offers"]}),
        "local_ssd": packed_local_ssd(tables),
        "other_prices": packed_other_prices(tables),
        "images": [packed_image(row, names) for row in tables["images"]],
    }
    for chip in (CPU, *chips):
        if chip in offers:
            sections[f"{OFFERS}{chip}"] = offers[chip]
    tables.complaints.notes.extend(names.notes())
    return compose(snapshot, sections)
