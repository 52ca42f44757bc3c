"""Cloud Monitoring's filters: comparisons of the parts of a series, with its few functions.

Must not understand selectors of groups or metadata: those are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from windlass.twin.compute import filters
from windlass.twin.refusals import Refusal

Test = Callable[[dict[str, Any]], bool]
TEXT = r'"((?:[^"\\]|\\.)*)"'
PATTERNS = {"starts_with": r'"\1*"', "ends_with": r'"*\1"', "has_substring": r'"*\1*"'}
FIELDS = re.compile(r"\b(group\.|metadata\.|monitoring\.regex)")
ONE_OF = re.compile(r'([\w.]+)\s*=\s*one_of\(\s*("[^)]*")\s*\)')
LABEL = re.compile(r"\b(metric|resource)\.label\.")


def parsed(text: str) -> Test:
    """Whether a series passes. Series are `{"metric": …, "resource": …}`."""
    if FIELDS.search(text):
        raise Refusal(501, f"The twin does not understand the filter {text!r}.")
    plain = LABEL.sub(r"\1.labels.", text)
    for name, pattern in PATTERNS.items():
        plain = re.sub(rf"\b{name}\(\s*{TEXT}\s*\)", pattern, plain)
    plain = ONE_OF.sub(_alternatives, plain)
    return filters.parsed(plain)


def _alternatives(found: re.Match[str]) -> str:
    values = re.findall(TEXT, found[2])
    return "(" + " OR ".join(f'{found[1]} = "{value}"' for value in values) + ")"
