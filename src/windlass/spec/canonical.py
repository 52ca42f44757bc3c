"""A checked spec as canonical JSON and back: what the store keeps and the agent's side is given.

Must not check anything: what it reads was written here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from windlass.errors import InternalError
from windlass.spec.model import (
    Accelerators,
    Checkpoint,
    Launch,
    Limits,
    Resources,
    Spec,
    Where,
    Work,
)

FORMAT = 1


def to_json(spec: Spec) -> str:
    """The spec as JSON: equal specs give equal text, on every machine."""
    fields = {name: _plain(getattr(spec, name)) for name in Spec.__slots__}
    return json.dumps({"format": FORMAT, **fields}, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    slots = getattr(value, "__slots__", None)
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    if slots is not None:
        return {name: _plain(getattr(value, name)) for name in slots}
    return value


def from_json(text: str) -> Spec:
    """The spec that was written. A field that is missing takes its default, so that text of an
    older Windlass can be read. Raises InternalError when it is no such text.
    """
    try:
        fields = json.loads(text)
        if fields.pop("format") != FORMAT:
            raise ValueError("written in another format")
        return _spec(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise InternalError(f"a stored spec cannot be read: {exc}") from exc


def _spec(fields: dict[str, Any]) -> Spec:
    if "launch" in fields:
        fields["launch"] = Launch(fields["launch"])
    if "resources" in fields:
        fields["resources"] = _resources(fields["resources"])
    if "where" in fields:
        fields["where"] = _where(fields["where"])
    if fields.get("work") is not None:
        fields["work"] = _work(fields["work"])
    if "limits" in fields:
        fields["limits"] = Limits(**fields["limits"])
    if fields.get("checkpoint") is not None:
        fields["checkpoint"] = Checkpoint(**fields["checkpoint"])
    return Spec(**fields)


def _resources(fields: dict[str, Any]) -> Resources:
    listed = fields.pop("accelerators", ())
    return Resources(accelerators=tuple(Accelerators(**item) for item in listed), **fields)


def _where(fields: dict[str, Any]) -> Where:
    lists: dict[str, Any] = {
        name: tuple(fields.pop(name, ())) for name in ("engines", "regions", "buy")
    }
    return Where(**lists, **fields)


def _work(fields: dict[str, Any]) -> Work:
    reference = fields.pop("reference_accelerators", None)
    known = Accelerators(**reference) if reference is not None else None
    return Work(reference_accelerators=known, **fields)
