"""A process of its own that uses a store; tests start it, talk to it in lines, and kill it.

    store_process.py open URL...     opens each URL in turn, one for each line it is given
    store_process.py hang URL        stands still in the middle of a write to run `r`

Must not do anything else: what it does to the store is what a controller would do.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

from builders import make_attempt, make_claim, make_event  # noqa: E402 - after the path is set
from windlass.state.model import Change  # noqa: E402
from windlass.state.open_store import open_store  # noqa: E402


class Hanging(Mapping[str, Any]):
    """Details of an event that never come: whoever writes them stops with rows half written."""

    def __iter__(self) -> Iterator[str]:
        print("inside", flush=True)
        sys.stdin.read()
        return iter(())

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start the process; its input and output are pipes."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def end(process: subprocess.Popen[str]) -> None:
    """Kill it as a crash would, and wait until it is gone."""
    process.kill()
    process.communicate()


def _open_each(urls: list[str]) -> None:
    print("ready", flush=True)
    for url in urls:
        sys.stdin.readline()
        store = open_store(url)
        print(len(store.live()), flush=True)
        store.close()


def _hang(url: str) -> None:
    store = open_store(url)
    lease = store.take_lease("hanging", now=0.0, ttl_s=10.0)
    run = store.get_run("r")
    assert lease is not None and run is not None
    change = Change(
        run=run,
        attempts=(make_attempt(),),
        claims=(make_claim(),),
        events=(make_event(), make_event(details=Hanging())),
    )
    store.write(lease, change)


if __name__ == "__main__":
    if sys.argv[1] == "open":
        _open_each(sys.argv[2:])
    else:
        _hang(sys.argv[2])
