"""How a watched run is shown on a terminal: logs scroll, a line and a bar stay below them.

Must not poll or wait (attach.py does). The only module that imports rich.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from windlass.cli.screens import LineFormat, event_text, in_order
from windlass.cli.terminal import PHASE_STYLES, Paint, has_colour
from windlass.cli.words import duration, number
from windlass.state.model import Event
from windlass.state.phases import RunPhase

if TYPE_CHECKING:
    from windlass.cli.watch import News
    from windlass.controller.progress import Record
    from windlass.ports.clock import Clock
    from windlass.state.model import Run

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_RATE_WINDOW = 50
_METRICS_MAX = 4
RAW_LINES = 200


class Pace:
    """How fast steps are done, over the last few records of one attempt."""

    def __init__(self) -> None:
        self._recent: deque[Record] = deque(maxlen=_RATE_WINDOW)
        self.last: Record | None = None

    def add(self, record: Record) -> None:
        """Take one more record into account."""
        if record.event:
            return
        if self.last is not None and record.attempt != self.last.attempt:
            self._recent.clear()
        self._recent.append(record)
        self.last = record

    @property
    def steps_per_s(self) -> float | None:
        """None before two records with times."""
        if len(self._recent) < 2:
            return None
        first, last = self._recent[0], self._recent[-1]
        if first.time is None or last.time is None or last.time <= first.time:
            return None
        return (last.step - first.step) / (last.time - first.time)


class LiveScreen:
    """Logs above, the run's state below."""

    def __init__(self, clock: Clock, *, steps_total: int | None, has_times: bool = False) -> None:
        colour = has_colour(sys.stdout)
        self._console = Console(
            file=sys.stdout, highlight=False, soft_wrap=True, no_color=not colour
        )
        self._format = LineFormat(Paint(sys.stdout), has_times=has_times)
        self._clock = clock
        self._steps_total = steps_total
        self._pace = Pace()
        self._live: Live | None = None
        self._frame = 0
        self._said = ""

    def show(self, news: News) -> None:
        """See Screen."""
        self._format.is_gang = news.gang > 1
        for record in news.records:
            self._pace.add(record)
        if len(news.lines) > RAW_LINES:
            self._show_raw(news)
            return
        if self._live is None:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, redirect_stderr=False
            )
            self._live.start()
        printed = []
        for one in in_order(news, has_events=True):
            if not isinstance(one, Event):
                printed.append(Text.from_ansi(self._format(one)))
            elif self._is_new(event_text(one)):
                printed.append(Text(event_text(one), style="dim"))
        if printed:
            self._console.print(Text("\n").join(printed), soft_wrap=True)
        self._frame += 1
        self._live.update(self._state(news.run), refresh=True)

    def _show_raw(self, news: News) -> None:
        """A flood is written as it is: laying out every line would keep the reader waiting."""
        self.suspend()
        sys.stdout.write("".join(f"{self._format(line)}\n" for line in news.lines))
        sys.stdout.flush()

    def suspend(self) -> None:
        """See Screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def close(self) -> None:
        """See Screen."""
        self.suspend()

    def _is_new(self, text: str) -> bool:
        is_new = bool(text) and text != self._said
        self._said = text or self._said
        return is_new

    def _state(self, run: Run) -> RenderableType:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{_SPINNER[self._frame % len(_SPINNER)]} ", style="cyan")
        line.append(str(run.phase), style=PHASE_STYLES[run.phase])
        line.append(f"  {run.id}")
        line.append(f"  {duration(self._clock.now() - run.created_at)}", style="dim")
        if run.attempt > 1:
            line.append(f"  attempt {run.attempt}", style="yellow")
        if run.phase is not RunPhase.RUNNING and run.reason:
            line.append(f"  {run.reason}", style="dim")
        bar = self._bar()
        return line if bar is None else Group(line, bar)

    def _bar(self) -> RenderableType | None:
        last = self._pace.last
        if last is None:
            return None
        row = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [Text("  step", style="dim")]
        total = self._steps_total
        if total:
            share = min(1.0, last.step / total)
            cells.append(ProgressBar(total=total, completed=min(last.step, total), width=30))
            cells.append(Text(f"{last.step}/{total}"))
            cells.append(Text(f"{share * 100:.0f}%", style="bold"))
        else:
            cells.append(Text(str(last.step)))
        cells += self._speed(last.step, total)
        for name, value in list(last.metrics.items())[:_METRICS_MAX]:
            cells.append(Text.assemble((f"{name} ", "dim"), number(value)))
        row.add_row(*cells)
        return row

    def _speed(self, step: int, total: int | None) -> list[RenderableType]:
        rate = self._pace.steps_per_s
        if not rate:
            return []
        cells: list[RenderableType] = [Text(f"{number(rate)}/s", style="dim")]
        if total and total > step:
            cells.append(Text(f"{duration((total - step) / rate)} left", style="dim"))
        return cells
