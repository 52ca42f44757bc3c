"""How far training is: one JSON line per call, in a file on this node that the agent mirrors.

Must never stop training: a full disk or a missing folder costs lines, not the run.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import operator
import os
import time
from typing import Any, Dict, Mapping, Optional, SupportsIndex, Union

from windlass.runtime.context import context

METRICS_MAX = 32
KEY_CHARS_MAX = 64
TEXT_CHARS_MAX = 200
RETRY_S = 5.0
_OURS = frozenset(("step", "time", "attempt", "event"))
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode

Scalar = Union[bool, int, float, str, None]


class ProgressFile:
    """The lines of one rank; an empty path swallows them."""

    def __init__(self, path: str, *, attempt: int) -> None:
        self.path = path
        self.attempt = attempt
        self._fd: Optional[int] = None
        self._retry_at = float("-inf")
        self._is_torn = False

    def add(self, fields: Mapping[str, Scalar]) -> None:
        """Append one line, in one write; dropped when the disk does not take it."""
        if not self.path:
            return
        line = _encode({**fields, "time": round(time.time(), 6), "attempt": self.attempt})
        self._write(line.encode("ascii") + b"\n")

    def _write(self, line: bytes) -> None:
        if self._fd is None and not self._open():
            return
        assert self._fd is not None
        if self._is_torn:  # A full disk took half a line: the next one must not join it.
            line = b"\n" + line
        try:
            written = os.write(self._fd, line)
            self._is_torn = written < len(line)
        except OSError:
            self._close()

    def _open(self) -> bool:
        now = time.monotonic()
        if now < self._retry_at:
            return False
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._fd = os.open(self.path, flags, 0o644)
        except OSError:
            self._retry_at = now + RETRY_S
            return False
        return True

    def _close(self) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
        self._fd = None
        self._retry_at = time.monotonic() + RETRY_S


def progress(step: SupportsIndex, **metrics: object) -> None:
    """Say that `step` steps are done, with numbers worth plotting (`loss=`, `tokens_per_s=`).

    Metrics are numbers, short texts, or anything with `.item()` (NumPy, JAX and torch scalars).
    Others are left out, as are those beyond the thirty-second. Not-finite numbers are written as
    the texts "nan", "inf" and "-inf", which JSON has no numbers for.
    """
    fields: Dict[str, Scalar] = {"step": operator.index(step)}
    fields.update(clean(metrics))
    _ours().add(fields)


def event(name: str, step: int, **fields: object) -> None:
    """Tell the report what happened to a checkpoint: `restored`, `saved` or `damaged`."""
    _ours().add({"event": name, "step": step, **clean(fields)})


def clean(metrics: Mapping[str, object]) -> Dict[str, Scalar]:
    """The metrics that a line can carry, as plain JSON values."""
    kept: Dict[str, Scalar] = {}
    for key, value in metrics.items():
        if key in _OURS or len(key) > KEY_CHARS_MAX or len(kept) >= METRICS_MAX:
            continue
        with contextlib.suppress(TypeError, ValueError, RuntimeError, OverflowError):
            kept[key] = _scalar(value)
    return kept


def _scalar(value: Any) -> Scalar:
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind is int or kind is bool or value is None:
        return value  # type: ignore[no-any-return] # checked in the line above
    if isinstance(value, str):
        return str(value[:TEXT_CHARS_MAX])
    if hasattr(value, "item"):
        plain = value.item()
        if type(plain) in (bool, int, float):
            return _scalar(plain)
    return _scalar(float(value))


@functools.lru_cache(maxsize=None)
def _ours() -> ProgressFile:
    here = context()
    path = os.path.join(here.folder, f"rank-{here.rank}", "progress.jsonl") if here.folder else ""
    return ProgressFile(path, attempt=here.attempt)
