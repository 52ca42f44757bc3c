"""Packs the names of gcloud's commands, flags and choices into the table of `windlass lint-gcloud`.

Reads what `gcloud meta list-commands --flags --flag-values --hidden` prints (it takes minutes) from
standard input. Must not keep prose; the same listing always makes the same bytes.
"""

from __future__ import annotations

import lzma
import re
import sys
from pathlib import Path

TO = Path(__file__).parent.parent / "src/windlass/gcloudlint/data/gcloud.xz"


def packed_line(line: str) -> str:
    """`path<TAB>flags`; a flag that takes a value ends in `=`, and its choices if it has some."""
    path, flags = [], []
    for word in line.split()[1:]:
        if not word.startswith("-"):
            path.append(word)
        elif not word.startswith("---"):
            flags.append(re.sub(r"=:.*", "=", word))
    return " ".join(path) + "\t" + " ".join(flags)


def main() -> None:
    """`gcloud meta list-commands ... | scripts/pack_gcloud.py 528.0.0`."""
    version = sys.argv[1]
    lines = [packed_line(line) for line in sys.stdin if line.startswith("gcloud")]
    text = "\n".join([version, *sorted(lines)])
    TO.parent.mkdir(exist_ok=True)
    TO.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(lines)} commands, {TO.stat().st_size} bytes")


if __name__ == "__main__":
    main()
