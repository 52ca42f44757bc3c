"""Calls the controller that can serve a run: wakes it, starts it, or has another make room.

Must not serve runs. A home has one controller at a time, and that talks to one cloud: the one of
the command that started it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from windlass.controller.clouds import (
    GOOGLE,
    VARIABLE,
    elsewhere,
    is_twin,
    is_within,
    named,
)
from windlass.controller.presence import LOG, Presence
from windlass.errors import OptionRefused
from windlass.ports.process import Processes
from windlass.state.model import Run
from windlass.state.store import Store


class Summons:
    """What a command may want of the controller of its home."""

    def __init__(
        self, presence: Presence, caller: Mapping[str, str], *, store: Callable[[], Store]
    ) -> None:
        self._presence = presence
        self._caller = caller
        self._store = store

    def check_here(self, run: Run) -> None:
        """RunElsewhere for a run of a cloud that a controller of ours could not ask."""
        if not is_within(run, self._presence.cloud):
            raise elsewhere(run, here=self._presence.cloud)

    def check_free(self) -> None:
        """OptionRefused while the controller is bound to another cloud: a run for ours would wait
        for as long as that one's runs last. Runs at Google come before those of a twin also when
        their controller has died: they are paid for, and the next one must be theirs."""
        here, held = self._presence.cloud, self._presence.held()
        other = held.cloud if held is not None and held.cloud != here else ""
        if not other and is_twin(here):
            other = GOOGLE
        if not other:
            return
        bound = [one.run.id for one in self._store().live() if one.run.cloud == other]
        if bound or (held is not None and held.cloud == other and held.is_lasting):
            why = f" ({bound[0]})" if bound else ""
            raise OptionRefused(
                f"the controller of this home serves runs on {named(other)}{why}, and cannot "
                f"serve one on {named(here)} beside them",
                remedy="Wait until they have ended, or give one of the two a home of its own: set "
                "WINDLASS_HOME to another folder.",
            )

    def wake(self, run: Run | None = None) -> None:
        """See to it that a controller looks at once, one that can serve the run."""
        if run is not None:
            self.check_here(run)
        self._presence.ensure(self._start, cloud=run.cloud if run is not None else "")

    def is_served(self, run: Run) -> bool:
        """Whether there is a controller, and one that can serve the run."""
        return self._presence.serves(run.cloud)

    def _start(self) -> None:
        # A controller that was started from inside a rank must not carry the rank's marks.
        environment = {k: v for k, v in self._caller.items() if not k.startswith("WINDLASS_")}
        home = self._presence.home
        Processes().spawn(
            [sys.executable, "-m", "windlass", "up", "--on-demand"],
            env=environment | {"WINDLASS_HOME": str(home), VARIABLE: self._presence.cloud},
            output=home / LOG,
        )
