"""Makes the catalog that is shipped with Windlass out of a folder of CSV files.

Must not need anything but Windlass itself. The same folder always makes the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from windlass.catalog.install import read_checked
from windlass.catalog.load import PACKAGED
from windlass.errors import WindlassError


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="a folder with offers.csv and its companions")
    parser.add_argument("--snapshot", help="the day of the prices; else the folder's README says")
    parser.add_argument("--to", type=Path, default=PACKAGED)
    chosen = parser.parse_args()
    try:
        checked = read_checked(chosen.source, today="9999", snapshot=chosen.snapshot)
    except WindlassError as error:
        print(f"{error.message}\n{error.context}\n{error.remedy}", file=sys.stderr)
        return 1
    for note in checked.notes:
        print(f"note: {note}", file=sys.stderr)
    chosen.to.parent.mkdir(exist_ok=True)
    chosen.to.write_bytes(checked.data)
    print(f"{chosen.to}: {len(checked.data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
