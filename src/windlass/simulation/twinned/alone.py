"""One run alone in a twin that plays a scenario: nothing goes wrong but what the scenario says.

Must not plan: what is rented is given.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from windlass.controller.renting import Gang, recorded
from windlass.simulation.controllers import Controller
from windlass.simulation.disk import Disk, SeenDisk, folder_url, split_url
from windlass.simulation.gang import Training
from windlass.simulation.luck import Luck
from windlass.simulation.provider import Ground
from windlass.simulation.saboteur import SharedStore
from windlass.simulation.timeline import Timeline
from windlass.simulation.twinned.provider import TwinProvider
from windlass.spec.canonical import to_json
from windlass.spec.model import Spec
from windlass.state.model import Event, Run
from windlass.state.open_store import open_store
from windlass.state.phases import RunPhase, is_ended
from windlass.twin.scenario.model import Scenario
from windlass.twin.settings import Delays

RUN = "alone"
STRIDE_S = 60.0


class Lived(NamedTuple):
    """What became of it."""

    seconds: float
    """From submit until its work was done; what was rented is given back a little later."""
    usd: float
    """What its machines cost, by the twin's bill."""
    losses: int
    """How often it was started again."""


def live(
    seed: int, *, spec: Spec, gangs: list[Gang], training: Training, scenario: Scenario
) -> Lived:
    """Let the real controller carry the run out to its good end."""
    world = _World(seed, training, scenario)
    world.submit(spec, gangs)
    return world.lived()


class _World:
    """Implements controllers.Stage."""

    def __init__(self, seed: int, training: Training, scenario: Scenario) -> None:
        self.timeline = Timeline()
        self.luck = Luck(seed)
        self.luck.is_over = True
        self._disks: dict[str, Disk] = {}
        self._database: Any = open_store("sqlite://:memory:")
        self._writes: list[object] = []
        self.store = self.connect()
        ground = Ground(
            timeline=self.timeline,
            luck=self.luck,
            disk=self._disk,
            training=lambda run: training,
            note=self.note,
        )
        self.provider = TwinProvider(ground, delays=Delays(**scenario.settings["delays"]))
        self.provider.play(scenario)

    def submit(self, spec: Spec, gangs: list[Gang]) -> None:
        options = {"rented": gangs[0]._asdict(), "offers": recorded(gangs[1:])}
        now = self.timeline.now()
        run = Run(
            id=RUN,
            name=RUN,
            spec=to_json(spec),
            owner="somebody",
            engine=gangs[0].engine,
            created_at=now,
            options=json.dumps(options, sort_keys=True),
        )
        event = Event(run=RUN, attempt=0, at=now, code="submitted", message="submitted")
        self.store.add_run(run, event)
        self.timeline.after(0.0, Controller(self, 1, folder_url=folder_url).tick)

    def lived(self) -> Lived:
        while not is_ended((run := self.store.get_run(RUN)).phase):
            self.go_on(STRIDE_S)
        assert run.phase is RunPhase.SUCCEEDED, run.reason
        self.go_on(STRIDE_S)  # Its machines are given back.
        usd, done_at = self.provider.billed_usd(RUN), self.store.list_attempts(RUN)[-1].ended_at
        self.store.close()
        return Lived(done_at - run.created_at, usd, run.restarts)

    # ---- controllers.Stage -----------------------------------------------------------------

    def connect(self) -> Any:
        """See Stage."""
        return SharedStore(self._database, self._writes)

    def open_folder(self, url: str) -> SeenDisk:
        """See Stage."""
        folder, under = split_url(url)
        return self._disk(folder).seen_by(lambda: False, under=under)

    def note(self, text: str) -> None:
        """See Stage. Nobody reads it."""

    def fail(self, run: str, bug: Exception) -> None:
        """See Stage."""
        raise AssertionError(f"a step of {run} raised {bug!r}") from bug

    def replace_controller(self) -> None:
        """See Stage."""
        raise AssertionError("nothing goes wrong with controllers here")

    def go_on(self, seconds: float) -> None:
        """See Stage."""
        self.timeline.run_until(self.timeline.monotonic() + seconds, after_each=lambda: None)

    def _disk(self, url: str) -> Disk:
        return self._disks.setdefault(url, Disk(can_append=False))
