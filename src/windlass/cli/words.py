"""Times, durations and counts as people read them, and as programs do.

Must not read a clock: it is told what time it is.
"""

from __future__ import annotations

from datetime import UTC, datetime


def iso(at: float | None) -> str | None:
    """ISO 8601 in UTC with milliseconds, as every --json shows times."""
    if at is None:
        return None
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def local_time(at: float) -> str:
    """The time of day where the reader is."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float | None) -> str:
    """`0.4s`, `42s`, `3m12s`, `2h05m`, `3d4h`; a dash when there is none."""
    if seconds is None:
        return "-"
    if seconds < 10:
        return f"{max(0.0, seconds):.1f}s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d{whole % 86400 // 3600}h"


def number(value: float | str) -> str:
    """A metric with as many digits as matter; texts, such as `nan`, as they are."""
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def percent(part: float | None) -> str:
    """A share of one."""
    return "-" if part is None else f"{part * 100:.1f} %"


def plural(count: int, noun: str) -> str:
    """`1 restart`, `2 restarts`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def size(count: float) -> str:
    """Bytes in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
