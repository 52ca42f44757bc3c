"""Engines and agents with a promise broken on purpose, to see that the checkers notice.

Must not break more than one promise each.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from windlass.agent import layout
from windlass.agent.node import Node
from windlass.engines.base import Observation, Seen
from windlass.engines.marks import Mark


def forgetful(engine: Any) -> None:
    """What was once asked for is asked for again, under another request id."""
    marks, google = engine._marks, engine._google
    asked = 0

    def of(folder_url: str, attempt: int, claim: str) -> Mark:
        mark = type(marks).of(marks, folder_url, attempt, claim)
        mark._said.pop("asked", None)
        mark._said["first_at"] = marks._clock.now()
        return mark

    def insert(*args: Any, request_id: str, **kwargs: Any) -> Any:
        nonlocal asked
        asked += 1
        return type(google).insert(google, *args, request_id=f"{request_id}{asked}", **kwargs)

    marks.of = of
    google.insert = insert
    if engine.name == "vertex":
        # It knows no request ids: it looks for what it has made, and here does not.
        engine._of = lambda handle: []


def rash(engine: Any) -> None:
    """What was told to end is called gone at once."""
    observe, cancel, owned = engine.observe, engine.cancel, engine.owned
    cancelled = set()

    def cancel_rashly(handle: Any, *, now: bool = False) -> None:
        cancelled.add(handle)
        cancel(handle, now=now)

    def observe_rashly(handles: Any) -> Any:
        gone = Observation(seen=Seen.GONE)
        return {
            handle: gone if handle in cancelled else found
            for handle, found in observe(handles).items()
        }

    engine.observe, engine.cancel = observe_rashly, cancel_rashly
    engine.owned = lambda: [one for one in owned() if one.handle not in cancelled]


def immortal(engine: Any) -> None:
    """Machines are given no end of their own."""
    render = engine.render

    def without_end(claim: Any) -> Any:
        return render(replace(claim, expires_at=None))

    engine.render = without_end


class UnfencedNode(Node):
    """An agent that starts as soon as its gang is there, whoever holds the fence."""

    def _while_waiting(self, now, wall):
        beats = [self._read(self._heartbeat_of(k)) for k in range(self.order.nodes)]
        if any(beat is None for beat in beats):
            return
        self._addresses = [beat["address"] for beat in beats]
        name = layout.winner(self.order.attempt)
        winner = {"claim": self.order.claim, "nonces": [beat["nonce"] for beat in beats]}
        self.folder.create(name, json.dumps(winner).encode())
        self.body.prepare()
        self.state = "preparing"


class UnheldNode(Node):
    """An agent that starts although the attempt before its own still works."""

    def __init__(self, folder, order, body, **more):
        super().__init__(folder, order._replace(held_s=0.0), body, **more)
