"""What a benchmark hands back: figures, each with the baseline that was measured beside it.

Must not measure anything (clocks.py does) nor know a benchmark.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured value."""

    name: str
    value: float
    unit: str
    """`ms`, `us`, `/s`, `MiB`, `s` or `x`."""
    ratio: float | None = None
    """To the baseline of the same run."""
    target: float | None = None
    """The most that the ratio may be."""
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty when there is none."""
        if self.target is None or self.ratio is None:
            return ""
        return f"{'met' if self.ratio <= self.target else 'MISSED'} (at most {self.target:g})"

    def text(self) -> str:
        """One line for people."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f} x"
        shown = f"{self.value:,.{_decimals(self.value)}f} {self.unit}"
        line = f"  {self.name:<44}{shown:>14}  {ratio:>9}  {self.verdict}"
        return f"{line.rstrip()}  {self.note}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything one benchmark found."""

    title: str
    baseline: str
    """What `x` means here."""
    limit: str
    """What physics would allow."""
    peers: str = ""
    figures: tuple[Figure, ...]

    def text(self) -> str:
        """For people."""
        lines = [self.title, f"  x = {self.baseline}"]
        lines += [figure.text() for figure in self.figures]
        lines.append(f"  limit: {self.limit}")
        if self.peers:
            lines.append(f"  peers: {self.peers}")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def _decimals(value: float) -> int:
    if value >= 100:
        return 0
    return 1 if value >= 10 else 2
