"""Finding processes with `ps`, on systems without /proc (macOS).

Must not be used where /proc is: it is slower and tells less.
"""

from __future__ import annotations

import subprocess
from typing import Dict, List

from windlass.agent.processes import Process


def snapshot() -> Dict[int, Process]:
    """Every process that lives, by its number."""
    return parse_processes(_run("-axo", "pid=,ppid=,pgid=,stat=,lstart="))


def marked(mark: str) -> List[int]:
    """Processes of this user whose environment holds `mark` (NAME=value)."""
    return parse_marked(_run("-axEwwo", "pid=,command="), mark)


def parse_processes(said: str) -> Dict[int, Process]:
    """Read lines of `pid ppid pgid stat start…`; zombies have ended."""
    found = {}
    for line in said.splitlines():
        pid, parent, group, state, started = line.split(None, 4)
        if not state.startswith("Z"):
            found[int(pid)] = Process(int(pid), int(parent), int(group), started)
    return found


def parse_marked(said: str, mark: str) -> List[int]:
    """Read lines of `pid command and environment…`."""
    lines = [line.split(None, 1) for line in said.splitlines()]
    return [int(line[0]) for line in lines if len(line) == 2 and mark in line[1].split()]


def _run(*options: str) -> str:
    done = subprocess.run(
        ["ps", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )
    return done.stdout.decode("utf-8", "replace")
