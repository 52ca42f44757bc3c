"""Stands between a controller and the world and kills or delays it at any call.

Must not change what a call does: only whether the controller lives to see the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

CALLS = ("submit", "cancel", "write", "create", "observe", "owned", "read")


class Crash(BaseException):
    """The controller's process dies here. Not an Exception: nothing of it may be caught."""


class Fragile:
    """An object whose calls may be the caller's last, before or after they work."""

    def __init__(self, inner: Any, hazard: Callable[[str], None]) -> None:
        self._inner = inner
        self._hazard = hazard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in CALLS:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._hazard(f"before-{name}")
            answer = found(*args, **kwargs)
            self._hazard(f"after-{name}")
            return answer

        return call


class SharedStore:
    """One store behind several controllers, each with a connection of its own: `data_version`
    changes when another connection has written."""

    def __init__(self, inner: Any, writes: list[object]) -> None:
        self._inner = inner
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("write", "want", "add_run"):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            answer = found(*args, **kwargs)
            self._writes.append(self)
            return answer

        return call

    def data_version(self) -> int:
        """How many writes came from others."""
        return sum(writer is not self for writer in self._writes)


class UnfencedStore:
    """A store that takes any write from anybody: what the fence protects against."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, lease: Any, change: Any) -> Any:
        """Write under whatever lease and version are current."""
        current = self._inner.get_run(change.run.id)
        run = replace(change.run, version=current.version)
        return self._inner.write(self._inner._lease(), replace(change, run=run))
