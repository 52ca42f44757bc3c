"""Engines with a promise broken on purpose, to see that the checkers notice.

Must not change an engine in more than one way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
    """What is on its way is called gone, and so is what is being deleted."""
    observe = engine.observe

    def rashly(handles: Any) -> Any:
        return {
            handle: Observation(seen=Seen.GONE) if _is_in_between(found) else found
            for handle, found in observe(handles).items()
        }

    engine.observe = rashly


def _is_in_between(found: Observation) -> bool:
    return found.seen is Seen.PENDING or bool(found.missing) or "deleted" in found.reason


def immortal(engine: Any) -> None:
    """Machines are given no end of their own."""
    render = engine.render

    def without_end(claim: Any) -> Any:
        request = render(replace(claim, expires_at=None))
        return request

    engine.render = without_end
