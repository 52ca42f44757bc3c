"""Preconditions: what a client requires of the object or bucket that it reads or changes.

Must not know which request carries them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windlass.twin.storage import faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What must hold; None requires nothing."""

    generation: int | None = None
    """0 requires that there is no live object."""
    not_generation: int | None = None
    metageneration: int | None = None
    not_metageneration: int | None = None

    def check_write(self, generation: int, metageneration: int) -> None:
        """Refuse a change. Both are 0 when nothing is there."""
        if self._is_wrong(generation, metageneration) or self._is_same(generation, metageneration):
            raise faults.condition_failed()

    def check_read(self, generation: int, metageneration: int) -> None:
        """Refuse a read, or say that the client knows all of it already."""
        if self._is_wrong(generation, metageneration):
            raise faults.condition_failed()
        if self._is_same(generation, metageneration):
            raise faults.not_modified()

    def _is_wrong(self, generation: int, metageneration: int) -> bool:
        return (self.generation is not None and self.generation != generation) or (
            self.metageneration is not None and self.metageneration != metageneration
        )

    def _is_same(self, generation: int, metageneration: int) -> bool:
        return self.not_generation == generation or self.not_metageneration == metageneration


NONE = Conditions()


def from_query(query: Mapping[str, str], *, prefix: str = "if") -> Conditions:
    """The conditions in a query; `prefix` is `ifSource` for the source of a copy."""
    names = {
        "generation": f"{prefix}GenerationMatch",
        "not_generation": f"{prefix}GenerationNotMatch",
        "metageneration": f"{prefix}MetagenerationMatch",
        "not_metageneration": f"{prefix}MetagenerationNotMatch",
    }
    found = {key: query[name] for key, name in names.items() if query.get(name)}
    return _made(found) if found else NONE


def from_headers(headers: Mapping[str, str], *, prefix: str = "x-goog-if") -> Conditions:
    """The conditions of an XML request; `x-goog-copy-source-if` is the prefix for a source."""
    names = {
        "generation": f"{prefix}-generation-match",
        "not_generation": f"{prefix}-generation-not-match",
        "metageneration": f"{prefix}-metageneration-match",
        "not_metageneration": f"{prefix}-metageneration-not-match",
    }
    found = {key: headers[name] for key, name in names.items() if headers.get(name)}
    return _made(found) if found else NONE


def _made(found: Mapping[str, str]) -> Conditions:
    try:
        return Conditions(**{key: int(value) for key, value in found.items()})
    except ValueError as exc:
        raise faults.invalid(f"Invalid value for a precondition: {list(found.values())}") from exc


def matches_etag(header: str, etag: str) -> bool:
    """Whether an `If-Match` or `If-None-Match` header names this ETag."""
    named = [part.strip().removeprefix("W/").strip('"') for part in header.split(",")]
    return "*" in named or etag.strip('"') in named
