"""The compact file: a header line, one line of JSON for each section, and checksums at the end.

Must not know what the sections mean. Lines are parsed when they are asked for, so that a question
about one accelerator does not pay for the others. JSON, not marshal or pickle: a file may come
from somebody else.
"""

from __future__ import annotations

import json
from binascii import crc32
from collections.abc import Mapping
from typing import Any

from windlass.errors import CatalogUnusable

FORMAT = "windlass-catalog"
VERSION = 1
REMEDY = "Run `windlass catalog reset` to go back to the catalog that came with Windlass."


class Container:
    """A catalog file whose sections are parsed one by one."""

    def __init__(self, data: bytes, *, where: str) -> None:
        self._where = where
        lines = data.split(b"\n")
        # A file that was cut short or damaged must not become a wrong price. The checksum against
        # damage on the way from somebody else is the long one, in check.py: it costs an import.
        header = self._parsed(lines[0])
        trailer = self._parsed(lines[-2] if len(lines) > 2 else b"")
        if header.get("format") != FORMAT:
            raise self._unusable("is not a catalog of Windlass")
        if header.get("version") != VERSION:
            raise self._unusable(f"has version {header.get('version')!r}, not {VERSION}")
        if trailer.get("crc32") != crc32(body(data)):
            raise self._unusable("is damaged: its checksum does not match")
        names = header.get("sections")
        if not isinstance(names, list) or len(names) != len(lines) - 3:
            raise self._unusable("is damaged: sections are missing")
        self.snapshot = str(header.get("snapshot"))
        self.sha256 = trailer.get("sha256")
        self._lines: dict[str, bytes] = dict(zip(names, lines[1:-2], strict=True))
        self.names = tuple(self._lines)

    def section(self, name: str) -> Any:
        """What one section holds."""
        if name not in self._lines:
            raise self._unusable(f"has no section {name!r}")
        return json.loads(self._lines[name])

    def text(self, name: str) -> bytes:
        """The section as it stands in the file."""
        return self._lines[name]

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError as exc:
            raise self._unusable("is not a catalog of Windlass, or was cut short") from exc
        if not isinstance(found, dict):
            raise self._unusable("is not a catalog of Windlass")
        return found

    def _unusable(self, why: str) -> CatalogUnusable:
        return CatalogUnusable(f"the catalog {self._where} {why}", remedy=REMEDY)


def body(data: bytes) -> bytes:
    """What the checksums are of: everything before the last line."""
    return data[: data.rfind(b"\n", 0, len(data) - 1) + 1]


def compose(snapshot: str, sections: Mapping[str, Any]) -> bytes:
    """The file; the same sections always make the same bytes."""
    from hashlib import sha256  # noqa: PLC0415 - as costly as loading a catalog, and rarely needed.

    header = {
        "format": FORMAT,
        "version": VERSION,
        "snapshot": snapshot,
        "sections": list(sections),
    }
    lines = [_line(header), *(_line(section) for section in sections.values())]
    text = b"".join(lines)
    return text + _line({"crc32": crc32(text), "sha256": sha256(text).hexdigest()})


def _line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"
