"""What is believed before anything was measured: hazards, waits, speeds, and where each is from.

Must not be edited in code: the figures stand in data/priors.json, and `windlass plan --assumptions`
shows all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("data") / "priors.json"
_ASSUMPTION = "assumption"


class Prior(NamedTuple):
    """One figure."""

    key: str
    """Such as `hazard/spot/H100`."""
    value: float
    unit: str
    source: str
    """Where it is from; begins with `assumption` when nobody has published it."""

    @property
    def is_assumption(self) -> bool:
        """Whether nobody has published it."""
        return self.source.startswith(_ASSUMPTION)


@dataclass(frozen=True, slots=True)
class Priors:
    """Figures by key."""

    entries: Mapping[str, Prior]
    _found: dict[tuple[str, ...], Prior] = field(default_factory=dict, repr=False, compare=False)
    """What was looked for before."""

    def find(self, *parts: str) -> Prior:
        """The figure of the longest key that these words begin with: the last ones may be missing.

        `find("hazard", "spot", "L4")` is `hazard/spot` when there is none for the L4.
        """
        known = self._found.get(parts)
        if known is not None:
            return known
        for count in range(len(parts), 0, -1):
            found = self.entries.get("/".join(parts[:count]))
            if found is not None:
                self._found[parts] = found
                return found
        raise KeyError("/".join(parts))

    def value(self, *parts: str) -> float:
        """The value of that figure."""
        known = self._found.get(parts)
        return (known or self.find(*parts)).value


@cache
def load_priors() -> Priors:
    """The figures that come with Windlass."""
    rows = json.loads(_FILE.read_bytes())
    return Priors(
        {
            key: Prior(key=key, value=row["value"], unit=row["unit"], source=row["source"])
            for key, row in rows.items()
        }
    )
