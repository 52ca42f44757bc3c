"""How a watched run is shown where nothing can be redrawn: plain lines, or lines of JSON.

Must not poll or wait (attach.py does). What ranks print goes to stdout, what Windlass says to
stderr, so that `windlass run … > log` keeps only the ranks' words.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from windlass.cli.documents import (
    event_document,
    line_document,
    print_line,
    record_document,
    report_document,
    run_document,
)
from windlass.cli.terminal import Paint
from windlass.cli.watch import News
from windlass.cli.words import iso
from windlass.state.model import Event
from windlass.state.phases import ENDED_RUNS

if TYPE_CHECKING:
    from windlass.controller.logs import LogLine
    from windlass.controller.report import Report
    from windlass.state.model import Run

_ENDS = frozenset(map(str, ENDED_RUNS))
_RANK_STYLES = ("cyan", "magenta", "green", "yellow", "blue", "red")


class Screen(Protocol):
    """Where the news of a run go."""

    def show(self, news: News) -> None:
        """Show what is new."""

    def suspend(self) -> None:
        """Clear what is redrawn, so that something else can use the terminal for a while."""

    def close(self) -> None:
        """Leave the terminal as it was found."""


class LineFormat:
    """How one line of a log looks: who printed it stands before it when there are several."""

    def __init__(self, paint: Paint, *, has_times: bool = False) -> None:
        self._paint = paint
        self._has_times = has_times
        self._ranks: set[tuple[int, int]] = set()
        self.is_gang = False

    def __call__(self, line: LogLine) -> str:
        """The line as it is printed, without its end."""
        prefix = f"{self._paint(line.time, 'dim')} " if self._has_times and line.time else ""
        if line.rank is None:
            return prefix + self._paint(f"{line.node}/setup | ", "dim") + line.text
        self._ranks.add((line.node, line.rank))
        if self.is_gang or len(self._ranks) > 1:
            style = _RANK_STYLES[line.rank % len(_RANK_STYLES)]
            prefix += self._paint(f"{line.node}/{line.rank} | ", style)
        return prefix + line.text


def in_order(news: News, *, has_events: bool) -> Sequence[LogLine | Event]:
    """Lines and events as they followed each other."""
    if not news.events or not has_events:
        return news.lines
    both: list[tuple[str, LogLine | Event]] = [(line.time, line) for line in news.lines]
    both += [(iso(event.at) or "", event) for event in news.events]
    both.sort(key=lambda pair: pair[0])
    return [one for _, one in both]


def event_text(event: Event) -> str:
    """An event as watchers see it; empty for the end, of which the summary tells."""
    if event.code in _ENDS:
        return ""
    if event.code == "submitted":
        return f"windlass: {event.run} {event.message}"
    return f"windlass: {event.message}"


class PlainScreen:
    """Lines as they come: for pipes, files and terminals that cannot redraw."""

    def __init__(self, *, has_times: bool = False, has_events: bool = True) -> None:
        self._paint = Paint(sys.stderr)
        self._format = LineFormat(Paint(sys.stdout), has_times=has_times)
        self._has_events = has_events
        self._said = ""

    def show(self, news: News) -> None:
        """See Screen."""
        self._format.is_gang = news.gang > 1
        for one in in_order(news, has_events=self._has_events):
            if isinstance(one, Event):
                sys.stdout.flush()
                self._say(event_text(one))
            else:
                sys.stdout.write(f"{self._format(one)}\n")
        if news.lines:
            sys.stdout.flush()

    def suspend(self) -> None:
        """See Screen. Nothing is redrawn."""

    def close(self) -> None:
        """See Screen."""

    def _say(self, text: str) -> None:
        if text and text != self._said:
            sys.stderr.write(self._paint(text, "dim") + "\n")
            sys.stderr.flush()
            self._said = text


class JsonLines:
    """Only lines of logs, one JSON document each."""

    def show(self, news: News) -> None:
        """See Screen."""
        for line in news.lines:
            print_line(line_document(line))

    def suspend(self) -> None:
        """See Screen. Nothing is redrawn."""

    def close(self) -> None:
        """See Screen."""


class JsonScreen:
    """One JSON document a line, each with a `type`."""

    def __init__(self) -> None:
        self._phase = ""

    def show(self, news: News) -> None:
        """See Screen."""
        for line in news.lines:
            print_line({"type": "log", **line_document(line)})
        for record in news.records:
            print_line({"type": "progress", **record_document(record)})
        for event in news.events:
            print_line({"type": "event", **event_document(event)})
        if news.run.phase != self._phase:
            self._phase = news.run.phase
            print_line({"type": "run", **run_document(news.run)})

    def suspend(self) -> None:
        """See Screen. Nothing is redrawn."""

    def close(self) -> None:
        """See Screen."""

    def summarize(self, run: Run, report: Report) -> None:
        """The last line."""
        print_line({"type": "summary", **run_document(run), "report": report_document(report)})
