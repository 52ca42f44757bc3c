"""Values as people write them in a scenario: durations, places, kinds of machines, ways to buy.

Must not know where in the file they stand.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from windlass.twin.market import Model
from windlass.twin.scenario.reading import Wrong

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, None: 1.0}
SIZE = re.compile(r"(\d+)\s*(KiB|MiB|GiB|kB|MB|GB|B)?")
SIZES = {
    "B": 1,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    None: 1,
}
MODELS = {
    "spot": Model.SPOT.value,
    "on-demand": Model.STANDARD.value,
    "flex-start": Model.FLEX_START.value,
    "reserved": Model.RESERVED.value,
    "*": "*",
}
PROJECT = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")
TYPED = {"h100-80gb": "H100", "a100-40gb": "A100", "a100-80gb": "A100-80", "v5litepod": "v5e"}
"""Names of chips that people use besides the catalog's."""


def text(value: str) -> str:
    """Any text but none."""
    if not value.strip():
        raise Wrong("there is nothing", "Give a value.")
    return value


def duration(value: str) -> float:
    """Seconds."""
    found = DURATION.fullmatch(value.strip())
    if found is None:
        raise Wrong(f"{value} is no duration", "Write it as 90s, 10m, 2h, 1d or 200ms.")
    return float(found[1]) * UNITS[found[2]]


def size(value: str) -> int:
    """Bytes."""
    found = SIZE.fullmatch(value.strip())
    if found is None:
        raise Wrong(f"{value} is no size", "Write it as 65536, 256KiB or 8MiB.")
    return int(found[1]) * SIZES[found[2]]


def whole(value: str) -> int:
    """A whole number that is not negative."""
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise Wrong(f"{value} is no whole number", "Write 0, 1, 2 …")
    return number


def number(value: str) -> float:
    """A number that is not negative."""
    try:
        found = float(value)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise Wrong(f"{value} is no number of that kind", "Write a number from 0 on.")
    return found


def share(value: str) -> float:
    """A probability."""
    is_percent = value.strip().endswith("%")
    found = number(value.strip().rstrip("%")) / (100 if is_percent else 1)
    if found > 1:
        raise Wrong(f"{value} is more than all", "Write a share from 0 to 1, or in %.")
    return found


def status(value: str) -> int:
    """The status of an HTTP error."""
    if not re.fullmatch(r"[45]\d\d", value):
        raise Wrong(f"{value} is no HTTP error", "Write 429, 500, 503 or another from 400 to 599.")
    return int(value)


def project(value: str) -> str:
    """A project's id."""
    if PROJECT.fullmatch(value) is None:
        raise Wrong(
            f"{value} cannot be a project's id",
            "Six to thirty lower-case letters, digits and hyphens; a letter comes first.",
        )
    return value


def model(value: str) -> str:
    """How a machine is provisioned, as Google says it."""
    return MODELS[one_of(*MODELS)(value)]


def one_of(*choices: str) -> Callable[[str], str]:
    """One of these words."""

    def parse(value: str) -> str:
        if value not in choices:
            raise Wrong(f"{value} is none of them", f"Known are {', '.join(choices)}.")
        return value

    return parse


class Names:
    """Places and kinds of machines, as the catalog knows them."""

    def __init__(self, catalog: Catalog) -> None:
        chips = catalog.chips.values()
        self._zones = sorted(catalog.zones)
        self._kinds: dict[str, str] = {}
        for name in (one.name for one in catalog.machines.values()):
            self._kinds[name.lower()] = name
        for slice_ in catalog.slices.values():
            self._kinds[slice_.accelerator_type.lower()] = slice_.accelerator_type
            self._kinds[slice_.name.lower()] = slice_.accelerator_type
        for chip in chips:
            self._kinds[chip.name.lower()] = chip.google_name
            self._kinds[chip.google_name.lower()] = chip.google_name
        for typed, name in TYPED.items():
            self._kinds.setdefault(typed, self._kinds.get(name.lower(), name))

    def zone(self, value: str) -> str:
        """A zone, a region (all of its zones), or a pattern of zones."""
        if "*" in value or value in self._zones:
            return value
        if any(zone.startswith(f"{value}-") for zone in self._zones):
            return f"{value}-*"
        raise Wrong(f"there is no zone {value}", _close(value, self._zones, "us-central1-a"))

    def kind(self, value: str) -> str:
        """An accelerator, a machine type or a slice; or a pattern. Capacity goes by these."""
        if "*" in value:
            return value
        found = self._kinds.get(value.lower())
        if found is None:
            remedy = _close(value.lower(), list(self._kinds), "H100, a3-highgpu-8g, v5litepod-16")
            raise Wrong(f"nothing is called {value}", remedy)
        return found


def _close(value: str, known: Sequence[str], example: str) -> str:
    close = difflib.get_close_matches(value, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"Write it as {example}, or with a `*`."
