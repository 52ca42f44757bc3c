"""A node as a plain JSON value, for what only an engine understands.

Must not make anything but null, booleans, numbers, text, lists and mappings.
"""

from __future__ import annotations

import math
import re
from typing import Any

from windlass.spec.reader import NULLS, Reader
from windlass.spec.refused import quoted
from windlass.spec.tree import Listing, Node, Scalar

_INTEGER = r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+"
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|nan)"
_BOOLEANS = {"true": True, "True": True, "TRUE": True}
_BOOLEANS |= {"false": False, "False": False, "FALSE": False}
_DIGITS_MAX = 40


def plain_value(node: Node, reader: Reader) -> Any:
    """What the node says in YAML 1.2: `yes` is text, `true` is not. Problems go to the reader."""
    if isinstance(node, Scalar):
        return _plain_scalar(node, reader)
    if isinstance(node, Listing):
        return [plain_value(item, reader) for item in node.items]
    return {key.text: plain_value(item, reader) for key, item in node.pairs}


def _plain_scalar(node: Scalar, reader: Reader) -> str | int | float | bool | None:
    if not node.is_plain:
        return node.text
    if node.text in NULLS:
        return None
    if node.text in _BOOLEANS:
        return _BOOLEANS[node.text]
    is_integer = re.fullmatch(_INTEGER, node.text) is not None
    if not is_integer and not re.fullmatch(_FLOAT, node.text):
        return node.text
    value = _number(node.text, is_integer=is_integer)
    if not math.isfinite(value):
        message = f"{quoted(node.text)} is not a number that can be passed on"
        reader.add("bad-number", node, message=message, remedy="Put it in quotes to pass text.")
    return value


def _number(text: str, *, is_integer: bool) -> int | float:
    if len(text) > _DIGITS_MAX or "inf" in text or "nan" in text:
        return math.inf
    if not is_integer:
        return float(text)
    base = 16 if text.startswith("0x") else 8 if text.startswith("0o") else 10
    return int(text, base)
