"""Makes the catalog that is shipped with Windlass out of a folder of CSV files.

Must not need anything but Windlass itself. The same folder always makes the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from windlass.catalog.check import check
from windlass.catalog.load import PACKAGED
from windlass.catalog.pack import packed
from windlass.catalog.tables import read_tables
from windlass.errors import WindlassError


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="a folder with offers.csv and its companions")
    parser.add_argument("--snapshot", help="the day of the prices; else the folder's README says")
    parser.add_argument("--to", type=Path, default=PACKAGED)
    chosen = parser.parse_args()
    try:
        tables = read_tables(chosen.source)
        data = packed(tables, snapshot=chosen.snapshot or tables.snapshot or "")
        tables.complaints.raise_if_any(str(chosen.source))
        check(data, tables.complaints, where=str(chosen.source))
    except WindlassError as error:
        print(f"{error.message}\n{error.context}\n{error.remedy}", file=sys.stderr)
        return 1
    for note in tables.complaints.notes:
        print(f"note: {note}", file=sys.stderr)
    chosen.to.parent.mkdir(exist_ok=True)
    chosen.to.write_bytes(data)
    print(f"{chosen.to}: {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
