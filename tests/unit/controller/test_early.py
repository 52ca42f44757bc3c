"""What machines said before their agents were up."""

from __future__ import annotations

import pytest

from builders import make_claim
from views import BEATING, NOW, SILENT, ViewOf
from windlass.agent.folder import DiskFolder
from windlass.controller.decide import decide
from windlass.controller.early import EVERY_S, LINES, WIDTH, EarlyKeeper, asked, kept, readable
from windlass.controller.effects import KeepEarly
from windlass.errors import EngineTransient
from windlass.simulation.timeline import Timeline

CLAIM = make_claim("r")


class Talks:
    """An engine that can tell."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.times_asked = 0

    def early_lines(self, handle, *, most):
        self.times_asked += 1
        if not self.lines:
            raise EngineTransient("not now")
        return self.lines[-most:]


@pytest.fixture
def folder(tmp_path):
    return DiskFolder(tmp_path)


@pytest.fixture
def clock():
    return Timeline()


def test_what_a_machine_said_is_there_when_the_machine_is_not(folder, clock):
    EarlyKeeper(clock).keep(folder, Talks("one", "two"), CLAIM, handle="h")
    assert kept(folder, CLAIM) == ("one", "two")


def test_a_machine_is_asked_now_and_then(folder, clock):
    keeper, engine = EarlyKeeper(clock), Talks("one")
    for wait_s in (0.0, EVERY_S - 1.0, 2.0):
        clock.run_until(clock.monotonic() + wait_s, after_each=lambda: None)
        keeper.keep(folder, engine, CLAIM, handle="h")
    assert engine.times_asked == 2


def test_what_was_kept_is_not_replaced_by_nothing(folder, clock):
    keeper = EarlyKeeper(clock)
    keeper.keep(folder, Talks("one"), CLAIM, handle="h")
    clock.run_until(clock.monotonic() + EVERY_S, after_each=lambda: None)
    keeper.keep(folder, Talks(), CLAIM, handle="h")
    assert kept(folder, CLAIM) == ("one",)


def test_engines_that_cannot_tell_are_not_asked():
    assert asked(object(), "h") == ()
    assert asked(Talks(), "h") == ()


SECRETS = {
    "Authorization: Bearer ya29.abc-def": "Authorization: Bearer ***",
    "token=ya29.abc": "token=***",
    'curl -H "x: ya29.a0ARrdaM_x" url': 'curl -H "x: ya29.*** url',
    "HF_TOKEN=hf_abc and more": "HF_TOKEN=*** and more",
    '{"password": "hunter2"}': '{"password": ***',
    "tokens per second: 12": "tokens per second: 12",
}


@pytest.mark.parametrize(("said", "shown"), SECRETS.items())
def test_what_looks_secret_is_not_shown(said, shown):
    assert readable([said]) == (shown,)


def test_lines_are_few_and_short_and_printable():
    assert readable(str(number) for number in range(99)) == tuple(
        str(number) for number in range(99 - LINES, 99)
    )
    assert readable(["x" * 9999, "", "\x1b[31mred\x1b[0m\x07"]) == ("x" * WIDTH, "red")


UNHEARD = {
    "up for long and nobody has reported": (60.0, SILENT, True),
    "it has only just come up": (5.0, SILENT, False),
    "one has reported": (60.0, BEATING, False),
}


@pytest.mark.parametrize(("up_for_s", "node", "is_kept"), UNHEARD.values(), ids=UNHEARD)
def test_what_machines_say_is_kept_while_no_agent_of_theirs_is_heard(up_for_s, node, is_kept):
    view = ViewOf().starting().nodes(SILENT, node).seen(up_for_s=up_for_s).view()
    effects = [type(effect) for effect in decide(view, NOW).effects]
    assert (KeepEarly in effects) == is_kept
