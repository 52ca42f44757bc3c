"""What gcloud's command line has: groups, commands, flags and their choices, by name.

Must not know what any of them means (the rules do). The table is made by scripts/pack_gcloud.py.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

PACKED = Path(__file__).with_name("data") / "gcloud.xz"
TRACKS = ("alpha", "beta", "preview")
ANY = ""
"""What a flag takes when it takes any value."""

Flags = Mapping[str, str | None]
"""Name to its choices, comma-separated; ANY for any value; None for a flag without a value."""


class Surface:
    """The commands of one version of gcloud. A path is its words with spaces between."""

    def __init__(self, text: str) -> None:
        self.version, _, listed = text.partition("\n")
        self._flags_of = dict(line.split("\t") for line in listed.split("\n"))
        self._seen: dict[str, Flags] = {}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {}
        for path in self._flags_of:
            if path:
                above, _, name = path.rpartition(" ")
                children.setdefault(above, []).append(name)
        return children

    def children(self, path: str) -> list[str]:
        """What stands below a group; nothing for a command."""
        return self._children.get(path, [])

    def is_command(self, path: str) -> bool:
        """Whether it exists and can be carried out."""
        return path in self._flags_of and path not in self._children

    def has(self, path: str) -> bool:
        """Whether there is such a group or command."""
        return path in self._flags_of

    def flags(self, path: str) -> Flags:
        """Every flag that a command takes, those of its groups and of gcloud itself included."""
        if path not in self._seen:
            words = path.split(" ") if path else []
            found: dict[str, str | None] = {}
            for count in range(len(words) + 1):
                for flag in self._flags_of.get(" ".join(words[:count]), "").split():
                    name, equals, choices = flag.partition("=")
                    found[name] = choices if equals else None
            self._seen[path] = found
        return self._seen[path]


@cache
def load_surface() -> Surface:
    """The table that came with Windlass."""
    return Surface(lzma.decompress(PACKED.read_bytes()).decode())
