"""`make bench`: runs every benchmark, or those named with `--only`, and prints their ratios.

Must not run inside the tests: figures of a busy machine prove nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time

# Name to module; in the order in which they are run.
BENCHMARKS = {
    "start": "cli_start",
    "first-line": "first_line",
    "tiny-runs": "tiny_runs",
    "passes": "passes",
    "writes": "fenced_writes",
    "planning": "planning",
    "buying": "buying",
    "catalog": "catalog_load",
    "storage": "storage",
    "fleet": "fleet",
}


def main() -> int:
    """Run what was chosen; the exit status is 1 when a target was missed."""
    parser = argparse.ArgumentParser(description="Measure Windlass beside plain Python.")
    parser.add_argument("--only", action="append", choices=sorted(BENCHMARKS), metavar="NAME")
    parser.add_argument("--json", action="store_true", dest="is_json")
    chosen = parser.parse_args()
    is_met = True
    documents = {}
    if not chosen.is_json:
        print(_machine())
    for name, module in BENCHMARKS.items():
        if chosen.only and name not in chosen.only:
            continue
        begun = time.monotonic()
        result = importlib.import_module(module).measure()
        is_met = is_met and not any("MISSED" in figure.verdict for figure in result.figures)
        documents[name] = result.document()
        if not chosen.is_json:
            print(f"\n{name}: {result.text()}")
            print(f"  ({time.monotonic() - begun:.0f} s)", flush=True)
    if chosen.is_json:
        print(json.dumps({"machine": _machine(), "benchmarks": documents}, indent=2))
    return 0 if is_met else 1


def _machine() -> str:
    load = os.getloadavg()[0]
    processors = len(os.sched_getaffinity(0))
    busy = "; BUSY: the figures are not to be trusted" if load > processors / 2 else ""
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{processors} processors, load {load:.1f}{busy}"
    )


if __name__ == "__main__":
    sys.exit(main())
