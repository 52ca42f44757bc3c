"""Waits until Compute Engine has done what it was asked.

Must not sleep by itself: whoever builds it says how time passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from windlass.errors import EngineTransient
from windlass.google.compute import Compute, operation_errors
from windlass.google.refusals import operation_error

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
LONGEST_S = 300.0
Pause = Callable[[float], None]


class Waiting:
    """Follows operations to their end."""

    def __init__(self, compute: Compute, pause: Pause) -> None:
        self._compute = compute
        self._pause = pause

    def until_done(self, scope: str, operation: Mapping[str, Any], *, what: str) -> None:
        """Returns when it is done; raises what it ended with."""
        waited, pause = 0.0, FIRST_PAUSE_S
        name = str(operation.get("name", ""))
        found: Mapping[str, Any] | None = operation
        while found is not None and found.get("status") != "DONE":
            if waited >= LONGEST_S:
                raise EngineTransient(f"{what}: Google has not done it in {LONGEST_S:.0f} s")
            self._pause(pause)
            waited, pause = waited + pause, min(pause * 2, LONGEST_PAUSE_S)
            found = self._compute.operation(scope, name)
        errors = operation_errors(found or {})
        if errors:
            raise operation_error(errors, what=what)
