"""Carries out a rehearsal: sets the stage, submits the run, watches it, strikes the stage.

Must not judge what came of it (windlass.rehearsal does), nor leave anything alive behind.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.cli.attach import DETACHED, EXIT_STATUSES, Attachment, pause, steps_of
from windlass.cli.interrupts import Interrupts, noted_interrupts
from windlass.cli.screens import JsonScreen, PlainScreen, Screen
from windlass.cli.watch import News, Watch
from windlass.controller.logs import Choice

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.ports.clock import PacedClock
    from windlass.rehearsal.stage import Stage
    from windlass.rehearsal.story import Forecast, Story
    from windlass.spec.model import Spec
    from windlass.state.model import Run

END_S = 20.0
GONE_S = 45.0
"""What is deleted last may still be going when the run has ended; the controller looks after it."""
LEFT_BEHIND = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line says."""

    scenario: Path
    preempt_at: float | None
    """Percent of the steps."""
    speed: float
    seed: int
    delays: str
    engine: str | None
    settings: tuple[str, ...]
    is_kept: bool


def rehearse(spec_path: Path, wish: Wish, *, is_json: bool) -> int:
    """Rehearse the spec; the exit status."""
    from windlass.assemble import open_home
    from windlass.cli.commands.run import changed
    from windlass.cli.twin_packages import check_packages
    from windlass.ports.environment import adopt
    from windlass.rehearsal import props
    from windlass.rehearsal import stage as stages
    from windlass.spec.load import load_spec

    check_packages()
    spec = changed(load_spec(spec_path), name=None, engine=wish.engine, settings=wish.settings)
    spec = on_google(spec)
    with noted_interrupts() as interrupts, _struck(is_kept=wish.is_kept) as stage:
        signal.signal(signal.SIGTERM, interrupts.note)
        signal.signal(signal.SIGHUP, interrupts.note)
        if not is_json:
            _say(f"rehearsal: a cloud of its own is being set up in {stage.path}")
        clock = stage.build(
            stages.Wish(
                scenario=wish.scenario, speed=wish.speed, seed=wish.seed, delays=wish.delays
            )
        )
        for line in _stand_ins(stage, spec):
            if not is_json:
                _say(f"rehearsal: {line}")
        spec = props.staged(spec).spec
        adopt(stage.environment())
        play = Play(stage, open_home(path=stage.path), clock=clock, interrupts=interrupts)
        return play.perform(spec_path, spec, wish, is_json=is_json)


def on_google(spec: Spec) -> Spec:
    """The spec for engines that rent from Google, whatever else it names."""
    from dataclasses import replace

    from windlass.engines.registry import ALL_OF_GOOGLE, google_engines

    named = tuple(name for name in spec.where.engines if google_engines(name))
    return replace(spec, where=replace(spec.where, engines=named or (ALL_OF_GOOGLE,)))


def _stand_ins(stage: Stage, spec: Spec) -> Iterator[str]:
    """Put what only the user's project has onto the stage, or leave it out; what to say of it."""
    from windlass.rehearsal import props

    left_out = props.staged(spec).left_out
    if left_out:
        yield f"left out, since only your project has it: {', '.join(left_out)}"
    made_up = props.keep_secrets(stage, spec.secrets, stage.caller)
    if made_up:
        yield f"made up, since your environment has no value: {', '.join(made_up)}"


@contextmanager
def _struck(*, is_kept: bool) -> Iterator[Stage]:
    """A stage that nothing is alive on afterwards."""
    from windlass.assemble import open_home
    from windlass.rehearsal.stage import Stage

    # Nothing is looked up in the user's own home, and none is made.
    path = Path(tempfile.mkdtemp(prefix="windlass-rehearsal-"))
    stage = Stage(path, caller=open_home(path=path).caller)
    try:
        yield stage
    finally:
        # What is being taken down is taken down, however often Ctrl-C is pressed.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        home = open_home(path=stage.path)
        end_controller(home)
        stage.strike()
        await_children(home)
        if is_kept:
            _say(f"rehearsal: everything is kept in {stage.path}")
        else:
            stage.remove()


def end_controller(home: Home) -> None:
    """Also the one that is just coming up: it finds its place taken by us."""
    deadline = home.world.clock.monotonic() + END_S
    told = None
    while not home.presence.take() and home.world.clock.monotonic() < deadline:
        controller = home.presence.process_id()
        if controller is not None and controller != told:
            os.kill(controller, signal.SIGTERM)
            told = controller
        pause(0.02)


def await_children(home: Home) -> None:
    """Until all that was started from here has ended, or will not. A controller that was coming up
    when its home was removed would make it again."""
    deadline = home.world.clock.monotonic() + END_S
    while home.world.clock.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                pause(0.02)
        except ChildProcessError:
            return


class Play:
    """One rehearsal on a stage that stands."""

    def __init__(
        self, stage: Stage, home: Home, *, clock: PacedClock, interrupts: Interrupts
    ) -> None:
        self._stage = stage
        self._home = home
        self._clock = clock
        self._interrupts = interrupts

    def perform(self, spec_path: Path, spec: Spec, wish: Wish, *, is_json: bool) -> int:
        """Submit it, watch it and tell what came of it; the exit status."""
        forecast, run = self._submit(spec_path, spec, wish, is_json=is_json)
        screen: Screen = JsonScreen() if is_json else PlainScreen()
        at = _step_of(run, wish.preempt_at)
        if at is not None:
            screen = Cue(screen, self._stage, run, at_step=at)
        watch = Watch(self._home, run, Choice(has_setup=True), is_patient=True)
        attachment = Rehearsed(self._home, run, screen, interrupts=self._interrupts)
        ended = attachment.follow(watch)
        if ended is None:
            _say("rehearsal: interrupted; it leaves nothing behind")
            return DETACHED
        self._await_nothing()
        story = self._story(ended, forecast)
        _print(story, is_json=is_json)
        status = EXIT_STATUSES[ended.phase]
        return status or (LEFT_BEHIND if story.left else 0)

    def _await_nothing(self) -> None:
        from windlass.rehearsal.evidence import left_behind

        deadline = self._clock.monotonic() + GONE_S
        while left_behind(self._stage, self._home) and self._clock.monotonic() < deadline:
            if self._interrupts.is_pending:
                return
            pause(1.0)

    def _submit(
        self, spec_path: Path, spec: Spec, wish: Wish, *, is_json: bool
    ) -> tuple[Forecast, Run]:
        from windlass.cli.foresight import Foresight
        from windlass.planner.estimate import Basis
        from windlass.rehearsal.outlook import outlook
        from windlass.rehearsal.story import Forecast
        from windlass.twin.scenario.load import load_scenario

        catalog = self._home.catalog
        scenario = load_scenario(wish.scenario, catalog=catalog)
        known = outlook(scenario, delays=wish.delays, catalog=catalog)
        foresight = Foresight(
            self._home, spec, spec_path, is_shown=True, circumstances=known, is_real=False
        )
        chosen = foresight.choose()
        assert chosen is not None, "engines of Google rent"
        if not is_json:
            foresight.tell_before()
        estimate = chosen.estimate
        forecast = Forecast(
            usd_p50=chosen.usd_p50,
            usd_p90=chosen.usd_p90,
            p50_s=estimate.p50_s,
            p90_s=estimate.p90_s,
            is_of_work=estimate.basis is Basis.WORK,
        )
        run = self._home.submit(
            spec_path,
            spec,
            emulate=True,
            engine=foresight.engine,
            chosen=chosen,
            others=foresight.others(),
        )
        return forecast, run

    def _story(self, run: Run, forecast: Forecast) -> Story:
        from windlass.controller.report import make_report
        from windlass.rehearsal.evidence import gather
        from windlass.rehearsal.story import tell

        evidence = gather(self._stage, self._home, run, clock=self._clock)
        report = make_report(
            run,
            evidence.attempts,
            evidence.records,
            now=self._clock.now(),
            steps_total=steps_of(run),
            charges=self._home.store().charges(run_id=run.id),
        )
        return tell(evidence, forecast=forecast, report=report)


class Rehearsed(Attachment):
    """A watcher whose Ctrl-C ends the rehearsal: nobody is to come back to it."""

    def _stays(self, news: News) -> bool:
        self._screen.suspend()
        return False


class Cue:
    """A screen that takes the run's machines away once enough of its work is done.

    Wraps the one that shows the news. See Screen.
    """

    def __init__(self, screen: Screen, stage: Stage, run: Run, *, at_step: int) -> None:
        self._screen = screen
        self._stage = stage
        self._run = run
        self._at_step = at_step
        self._is_given = False

    def show(self, news: News) -> None:
        """See Screen."""
        self._screen.show(news)
        done = max((one.step for one in news.records if not one.event), default=0)
        if self._is_given or done < self._at_step or news.is_last:
            return
        self._is_given = True
        struck = self._stage.ask(
            "POST", "/twin/v1/faults", {"preempt": f"windlass-run={self._run.id}"}
        )
        _say(f"rehearsal: at step {done} the cloud has {struck['outcome']}")

    def suspend(self) -> None:
        """See Screen."""
        self._screen.suspend()

    def close(self) -> None:
        """See Screen."""
        self._screen.close()


def _step_of(run: Run, percent: float | None) -> int | None:
    from windlass.errors import OptionRefused

    if percent is None:
        return None
    steps = steps_of(run)
    if steps is None:
        raise OptionRefused(
            "--preempt-at needs to know how many steps there are",
            remedy="Say `work: {steps: 1000}` in the spec, and report them with `progress`.",
        )
    return max(1, round(steps * percent / 100))


def _print(story: Story, *, is_json: bool) -> None:
    from windlass.cli.rehearsal_text import document, text
    from windlass.cli.terminal import Paint

    if is_json:
        from windlass.cli.documents import print_line

        print_line({"type": "rehearsal", **document(story)})
        return
    sys.stdout.write(text(story, Paint(sys.stdout)) + "\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    from windlass.cli.terminal import Paint

    sys.stderr.write(Paint(sys.stderr)(text, "bold yellow") + "\n")
    sys.stderr.flush()
