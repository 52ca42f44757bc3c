"""Google's discovery documents as they are shipped: cut down, packed, one file per API version.

Must not interpret them: api.py does. scripts/trim_discovery.py makes the files.
"""

from __future__ import annotations

import functools
import json
import lzma
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SUFFIX = ".json.xz"


@functools.cache
def available() -> dict[str, tuple[str, ...]]:
    """The versions that are shipped, by API."""
    versions: dict[str, tuple[str, ...]] = {}
    for path in sorted(DATA.glob(f"*{SUFFIX}")):
        name, version = path.name.removesuffix(SUFFIX).split(".")
        versions[name] = (*versions.get(name, ()), version)
    return versions


def document(key: str) -> dict[str, Any]:
    """The document `name.version`, complete; LookupError where there is none."""
    path = DATA / f"{key}{SUFFIX}"
    if not path.is_file():
        raise LookupError(f"no discovery document of {key}")
    stored: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    base = stored.pop("base", None)
    return stored if base is None else merged(document(base), stored)


def enum_table() -> dict[str, dict[str, dict[str, str]]]:
    """The numbers behind enums: API version, then enum, then number to name."""
    table: dict[str, dict[str, dict[str, str]]] = json.loads(
        (DATA / "enum_numbers.json").read_text(encoding="utf-8")
    )
    return table


def merged(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """`base` after a merge patch (RFC 7386). Takes over `base`."""
    for key, value in patch.items():
        if value is None:
            base.pop(key, None)
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            base[key] = merged(base[key], value)
        else:
            base[key] = value
    return base
