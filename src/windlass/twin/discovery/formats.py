"""The formats of single values in Google's JSON: numbers, times, bytes.

Must not look into objects or lists: check.py does.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

_RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_DECIMAL = re.compile(r"-?\d{1,20}")
_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_DURATION = re.compile(r"-?\d{1,12}(\.\d{1,9})?s", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_URL_SAFE = str.maketrans("-_", "+/")
SPECIAL_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})


def is_whole(value: Any, form: str) -> bool:
    """Whether a JSON number is whole and in the format's range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low, high = _RANGES.get(form, (-(2**63), 2**64 - 1))
    return (
        value == value
        and value not in (float("inf"), float("-inf"))
        and (int(value) == value and low <= value <= high)
    )


def is_decimal(text: str, form: str) -> bool:
    """Whether a string is a whole number in the format's range."""
    return bool(_DECIMAL.fullmatch(text)) and is_whole(int(text), form)


def is_real(text: str) -> bool:
    """Whether a string is a number as protocol buffers write it."""
    if text in SPECIAL_NUMBERS:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return not text.strip().lower().lstrip("+-").startswith(("n", "i"))


def _is_base64(text: str) -> bool:
    plain = text.translate(_URL_SAFE)
    try:
        base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_date_time(text: str) -> bool:
    parts = _DATE_TIME.fullmatch(text)
    if parts is None:
        return False
    # A leap second is a time that Python does not know.
    clock = parts[2].replace(":60", ":59")
    return _is_iso(f"{parts[1]}T{clock}{parts[3].upper()}")


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and _is_iso(text)


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_duration(text: str) -> bool:
    return bool(_DURATION.fullmatch(text))


FORMATS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "int64": ("decimal string", functools.partial(is_decimal, form="int64")),
    "uint64": ("decimal string", functools.partial(is_decimal, form="uint64")),
    "byte": ("base64", _is_base64),
    "google-datetime": ("RFC 3339 time", _is_date_time),
    "date-time": ("RFC 3339 time", _is_date_time),
    "google-duration": ("duration in seconds such as '3.5s'", _is_duration),
    "date": ("date", _is_date),
}
"""By format: what is expected, in words, and the test for it."""
