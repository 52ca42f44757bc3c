"""What machines said before their agents were up: kept while they can still be asked.

Must not decide when (decide.py does), nor let a secret through. It only explains: what cannot be
had is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.engines.base import Engine, Handle, StreamsLogs
from windlass.errors import EngineError, SetupError
from windlass.ports.clock import Clock
from windlass.state.model import Claim

LINES = 30
WIDTH = 240
EVERY_S = 60.0
_SECRET = re.compile(
    r"(ya29\.|bearer\s+|(?:password|passwd|secret|token|api[-_]?key)[\"']?\s*[=:]\s*)\S+", re.I
)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class EarlyKeeper:
    """Writes early lines of claims into the run's folder, now and then: when a machine is deleted
    its console goes with it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept_at: dict[str, float] = {}

    def keep(self, folder: Folder, engine: Engine[Any], claim: Claim, *, handle: str) -> None:
        """Ask and write, unless that was done a moment ago."""
        now = self._clock.monotonic()
        if now - self._kept_at.get(claim.id, float("-inf")) < EVERY_S:
            return
        recent = {name: at for name, at in self._kept_at.items() if now - at < EVERY_S}
        self._kept_at = {**recent, claim.id: now}
        lines = asked(engine, handle)
        if not lines:
            return
        try:
            folder.write(_name(claim), "\n".join(lines).encode())
        except OSError:
            return


def asked(engine: Engine[Any], handle: str) -> tuple[str, ...]:
    """What the engine can still tell about a claim."""
    if not isinstance(engine, StreamsLogs):
        return ()
    try:
        return readable(engine.early_lines(Handle(handle), most=LINES))
    except (EngineError, SetupError):
        return ()


def kept(folder: Folder, claim: Claim) -> tuple[str, ...]:
    """What was kept of a claim."""
    said = folder.read(_name(claim)) or b""
    return readable(said.decode("utf-8", "replace").splitlines())


def readable(lines: Iterable[str]) -> tuple[str, ...]:
    """The last of the lines, printable, of a bearable length, and without what looks secret."""
    found = (_COLOURS.sub("", line).strip() for line in lines)
    shown = [_SECRET.sub(r"\1***", line)[:WIDTH] for line in found if line]
    return tuple("".join(c for c in line if c.isprintable()) for line in shown[-LINES:])


def _name(claim: Claim) -> str:
    return f"{layout.claim(claim.attempt, claim.id)}/early.txt"
