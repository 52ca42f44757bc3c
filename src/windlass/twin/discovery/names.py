"""Names of fields: a body may have them as protocol buffers do, with underscores.

Must not check: a name that no document has stays, and the checker finds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from windlass.twin.discovery.api import Api

STRICT = frozenset({"compute", "storage"})
"""APIs that are older than protocol buffers' JSON and take their own names only."""
_UNDERSCORE = re.compile(r"_([a-z0-9])")


def field_names(api: Api, schema: str, body: Any) -> Any:
    """The body with the names that the document has, as Google's front end reads it."""
    return body if api.name in STRICT else _renamed(api, {"$ref": schema}, body)


def camel(name: str) -> str:
    """`dry_run` is `dryRun`."""
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)


def _renamed(api: Api, schema: Mapping[str, Any], value: Any) -> Any:
    if "$ref" in schema:
        schema = api.schemas[schema["$ref"]]
    kind = schema["type"]
    if kind == "array" and isinstance(value, list):
        return [_renamed(api, schema["items"], inner) for inner in value]
    if kind != "object" or not isinstance(value, dict):
        return value
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    found = {}
    for name, inner in value.items():
        known = name if name in fields or camel(name) not in fields else camel(name)
        field = fields.get(known, others)
        found[known] = inner if field is None else _renamed(api, field, inner)
    return found
