"""Watches a run until it ends or the watcher leaves; the run is never hurt by either.

Must not draw (the screens do) nor decide about runs.
"""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

from windlass.cli.intents import stop_run
from windlass.cli.screens import JsonScreen, PlainScreen, Screen
from windlass.cli.terminal import Paint, can_redraw, is_interactive
from windlass.cli.watch import News, Watch
from windlass.controller.logs import Choice
from windlass.state.phases import RunPhase

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.cli.interrupts import Interrupts
    from windlass.cli.troubles import Troubles
    from windlass.controller.progress import Record
    from windlass.controller.report import Report
    from windlass.state.model import Run

EXIT_STATUSES = {RunPhase.SUCCEEDED: 0, RunPhase.FAILED: 1, RunPhase.STOPPED: 7}
DETACHED = 130
FIRST_PAUSE_S = 0.005
LAST_PAUSE_S = 0.15
SLOWER = 1.05
"""So that a pause stays a small part of what was waited: the eye sees no delay."""
CONTROLLER_CHECK_S = 1.0
CONTROLLER_CHECK_MAX_S = 16.0
LIVE_AFTER_S = 0.4
"""Shorter runs are over before a bar is worth loading what draws it."""


def pause(seconds: float) -> None:
    """Wait at the terminal."""
    time.sleep(seconds)  # noqa: TID251 - a person watches; nothing of the control plane waits.


class Keeper:
    """Sees to it that a run somebody waits for has a controller: starts one again if it died."""

    def __init__(self, home: Home, run: Run) -> None:
        self._home = home
        self._run = run
        self._wait_s = CONTROLLER_CHECK_S
        self._due = home.world.clock.monotonic() + CONTROLLER_CHECK_S

    def check(self) -> None:
        """Look, about once a second; ever less often when controllers die one after another."""
        now = self._home.world.clock.monotonic()
        if now < self._due:
            return
        if self._home.summons.is_served(self._run):
            self._wait_s = CONTROLLER_CHECK_S
        else:
            self._home.wake(self._run)
            self._wait_s = min(self._wait_s * 2, CONTROLLER_CHECK_MAX_S)
            if self._wait_s == CONTROLLER_CHECK_MAX_S:
                log = self._home.path / "controller.log"
                sys.stderr.write(f"windlass: the controller keeps dying; see {log}\n")
        self._due = now + self._wait_s


class Attachment:
    """One watcher of one run."""

    def __init__(self, home: Home, run: Run, screen: Screen, *, interrupts: Interrupts) -> None:
        self._home = home
        self._run = run
        self._screen = screen
        self._interrupts = interrupts
        self._keeper = Keeper(home, run)

    def follow(self, watch: Watch) -> Run | None:
        """Show what happens until the run has ended; None when the watcher left before."""
        wait_s = FIRST_PAUSE_S
        try:
            while True:
                news = watch.look()
                self._screen.show(news)
                if news.is_last:
                    return news.run
                if self._interrupts.is_pending and not self._stays(news):
                    return None
                self._keeper.check()
                if news.has_more:
                    continue
                wait_s = FIRST_PAUSE_S if news.is_any else min(wait_s * SLOWER, LAST_PAUSE_S)
                pause(wait_s)
        finally:
            self._screen.close()

    def _stays(self, news: News) -> bool:
        """Ctrl-C: whether to watch on. Never touches the run unless told to stop it."""
        self._screen.suspend()
        answer = _ask() if is_interactive() else "d"
        self._interrupts.is_pending = False
        if answer == "s":
            stop_run(self._home, news.run)
            return True
        if answer == "d":
            _say_how_to_return(news.run)
            return False
        return True


def _ask() -> str:
    """`d`, `s` or `c`. A second Ctrl-C, or the end of input, detaches."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while True:
            sys.stderr.write("\ndetach, stop, or continue? [d/s/c] ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            answer = line.strip().lower()[:1]
            if not line or answer in ("d", "s", "c"):
                return answer or "d"
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return "d"
    finally:
        signal.signal(signal.SIGINT, before)


def _say_how_to_return(run: Run) -> None:
    sys.stderr.write(
        f"windlass: detached; {run.id} goes on.\n"
        f"  watch it again: windlass attach {run.id}\n"
        f"  stop it:        windlass stop {run.id}\n"
    )


class LateLiveScreen:
    """Plain at first; when the run lasts, the screen that redraws is loaded and takes over."""

    def __init__(self, home: Home, *, steps_total: int | None, has_times: bool) -> None:
        self._clock = home.world.clock
        self._since = self._clock.monotonic()
        self._steps_total = steps_total
        self._has_times = has_times
        self._screen: Screen = PlainScreen(has_times=has_times)
        self._is_live = False

    def show(self, news: News) -> None:
        """See Screen."""
        is_due = self._clock.monotonic() - self._since >= LIVE_AFTER_S
        if not self._is_live and is_due and not news.is_last:
            from windlass.cli.live import LiveScreen

            self._is_live = True
            self._screen = LiveScreen(
                self._clock, steps_total=self._steps_total, has_times=self._has_times
            )
        self._screen.show(news)

    def suspend(self) -> None:
        """See Screen."""
        self._screen.suspend()

    def close(self) -> None:
        """See Screen."""
        self._screen.close()


def attach(
    home: Home, run: Run, *, is_json: bool, interrupts: Interrupts, first_attempt: int = 1
) -> int:
    """Watch a run to its end; the exit status that tells how it ended.

    With a `first_attempt` after the first, what happened before it is not shown.
    """
    steps_total = steps_of(run)
    screen: Screen
    if is_json:
        screen = JsonScreen()
    elif can_redraw(sys.stdout) and is_interactive():
        screen = LateLiveScreen(home, steps_total=steps_total, has_times=False)
    else:
        screen = PlainScreen()
    attachment = Attachment(home, run, screen, interrupts=interrupts)
    watch = Watch(home, run, Choice(has_setup=True, first=first_attempt))
    if first_attempt > 1:
        watch.skip_events()
    ended = attachment.follow(watch)
    if ended is None:
        return DETACHED
    report = report_of(home, ended)
    if isinstance(screen, JsonScreen):
        screen.summarize(ended, report)
    else:
        _say_summary(ended, report)
        found = home.store().get_run(ended.id)
        if found is not None and found.phase is RunPhase.STOPPING:
            sys.stderr.write("  its machines are being given back: see `windlass ps`\n")
    return EXIT_STATUSES[ended.phase]


def _say_summary(run: Run, report: Report) -> None:
    from windlass.cli.summary import summary_text

    sys.stderr.write(summary_text(run, report, Paint(sys.stderr)) + "\n")


def steps_of(run: Run) -> int | None:
    """How many steps the spec says there are."""
    from windlass.spec.canonical import from_json

    work = from_json(run.spec).work
    return work.steps if work else None


def report_of(home: Home, run: Run, troubles: Troubles | None = None) -> Report:
    """What the run has got done; with `troubles`, only what the store knows where its folder cannot
    be read."""
    from windlass.controller.progress import read_records
    from windlass.controller.report import make_report

    def records() -> list[Record]:
        return read_records(home.folder(run.id), run.attempt)

    return make_report(
        run,
        home.store().list_attempts(run.id),
        records() if troubles is None else troubles.without("progress", records, []),
        now=home.world.clock.now(),
        steps_total=steps_of(run),
        charges=home.store().charges(run_id=run.id),
    )
