"""Tables of plain text, aligned by what a terminal shows.

Must not import rich: `ps` starts faster than rich does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Style = Callable[[str, int], str]
GAP = "  "


def columns(text: str) -> int:
    """How many columns a terminal needs for the text."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def clip(text: str, width: int) -> str:
    """The text in at most this many columns, with an ellipsis when it was cut."""
    if columns(text) <= width:
        return text
    kept = ""
    for char in text:
        if columns(kept + char) > width - 1:
            break
        kept += char
    return kept + "…"


def pad(text: str, width: int, *, is_right: bool = False) -> str:
    """The text filled up with spaces."""
    fill = " " * (width - columns(text))
    return fill + text if is_right else text + fill


def draw(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    right: frozenset[int] = frozenset(),
    style: Style = lambda text, column: text,
) -> str:
    """The table; the last column takes what room is left. `style` is given padded cells."""
    widths = [max(map(columns, cells)) for cells in zip(header, *rows, strict=True)]
    last = len(header) - 1
    room = width - sum(widths[:last]) - len(GAP) * last
    widths[last] = min(widths[last], max(room, len(header[last]), 12))
    lines = [_line(header, widths, right, style=lambda text, column: text)]
    lines += [_line(row, widths, right, style=style) for row in rows]
    return "\n".join(lines)


def _line(
    cells: Sequence[str], widths: Sequence[int], right: frozenset[int], *, style: Style
) -> str:
    drawn = []
    for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        clipped = clip(_one_line(cell), width)
        fill = " " * (width - columns(clipped))
        styled = style(clipped, column)
        drawn.append(fill + styled if column in right else styled + fill)
    return GAP.join(drawn).rstrip()


def _one_line(text: str) -> str:
    """Control characters would break the table, or the terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def facts(pairs: Sequence[tuple[str, str]], *, indent: str = "") -> str:
    """Names and values, one a line, the values aligned. Values of several lines are indented."""
    widest = max((columns(name) for name, _ in pairs), default=0)
    lines = []
    for name, value in pairs:
        first, *rest = value.split("\n")
        lines.append(f"{indent}{pad(name, widest)}{GAP}{first}".rstrip())
        lines += [f"{indent}{' ' * widest}{GAP}{line}".rstrip() for line in rest]
    return "\n".join(lines)
