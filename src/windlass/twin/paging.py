"""A page of a list, and the token that leads to the next.

Must not know what it lists.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any, TypeVar

from windlass.twin.refusals import Refusal

T = TypeVar("T")


def page(
    found: Sequence[T], *, size: Any, token: str, usual: int, most: int
) -> tuple[list[T], str]:
    """The page that the token names, and the token of the next; empty for the last. `size` is as
    the client asks: nothing or zero means the usual one."""
    start = _offset(token)
    wanted = min(int(size or 0) or usual, most)
    if wanted < 0:
        raise Refusal(400, "page_size must not be negative.")
    end = start + wanted
    return list(found[start:end]), _token(end) if end < len(found) else ""


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"twin:{offset}".encode()).decode()


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        mark, _, number = base64.urlsafe_b64decode(token).decode().partition(":")
        if mark == "twin":
            return int(number)
    except (ValueError, binascii.Error):
        pass
    raise Refusal(400, "page_token is invalid.")
