"""Resources cut to the fields that a version of an API has: clients crash on others.

Must not check what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windlass.twin.discovery.api import Api


def fitted(api: Api, schema: str, resource: dict[str, Any]) -> dict[str, Any]:
    """The resource without what this version does not know."""
    found: dict[str, Any] = _fitted(api.schemas, {"$ref": schema}, resource)
    return found


def _fitted(schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> Any:
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    if isinstance(value, list):
        return [_fitted(schemas, schema.get("items", {}), one) for one in value]
    fields = schema.get("properties")
    if not isinstance(value, dict) or fields is None:
        return value
    return {
        name: _fitted(schemas, fields[name], one) for name, one in value.items() if name in fields
    }
