"""What only one engine knows: the `engine: {NAME: …}` block of a spec, over the defaults.

Must not guess at what it does not know: an unknown key is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from windlass.errors import EngineRejected

KINDS = {"bool": bool, "int": int, "str": str}
Options = TypeVar("Options")


def read_options(
    cls: type[Options], engine: str, given: Mapping[str, Any], *, defaults: Mapping[str, Any]
) -> Options:
    """The options of a claim, as the frozen dataclass of its engine, whose fields are all bool,
    int or str. Raises EngineRejected for a key or a type that makes no sense."""
    known = {field.name: str(field.type) for field in fields(cls)}  # type: ignore[arg-type]  # A dataclass.
    merged = {**defaults, **given}
    for key, value in merged.items():
        if key not in known:
            raise EngineRejected(
                f"engine.{engine} has no option {key!r}",
                remedy=f"Options here: {', '.join(sorted(known))}.",
            )
        wanted = KINDS[known[key]]
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise EngineRejected(
                f"engine.{engine}.{key} is {value!r}",
                remedy=f"Write a value of type {wanted.__name__}.",
            )
    return cls(**merged)
