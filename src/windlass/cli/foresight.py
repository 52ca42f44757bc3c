"""The plan that `windlass run` shows first: what will be rented, or what it would cost to rent.

Must not submit anything, nor keep the first line of a run waiting.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windlass.engines.registry import google_engines, renter
from windlass.errors import OptionRefused, WindlassError

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.planner.ask import Circumstances
    from windlass.planner.candidates import Candidate
    from windlass.planner.plan import Plan
    from windlass.policy.findings import Finding
    from windlass.spec.model import Spec

TOP = 3


class Foresight:
    """The plan of one submission, told in the order in which things become known.

    Without `is_shown` nothing is told, and only what has to be chosen is planned.
    """

    def __init__(
        self,
        home: Home,
        spec: Spec,
        spec_path: Path,
        *,
        is_shown: bool,
        circumstances: Circumstances | None = None,
        is_real: bool = True,
    ) -> None:
        """Not `is_real`: in a rehearsal, whose project lacks what a real one needs."""
        self._is_real = is_real
        self._home = home
        self._circumstances = circumstances
        self._spec = spec
        self._path = spec_path
        self._is_shown = is_shown
        self._engines = home.engines_for(spec)
        self.engine = renter(self._engines, is_slice=False) or self._engines[0]
        """Who is to run it; known for sure once it was chosen."""
        self._is_rented = home.engine(self.engine).limits().is_rented
        self._plan: Plan | None = None
        self._chosen: Candidate | None = None

    def choose(self) -> Candidate | None:
        """What to rent; None where nothing is. NoFeasiblePlan when there is nothing to choose."""
        if not self._is_rented:
            return None
        from windlass.cli.planning import feasible_plan

        self._plan = feasible_plan(self._home, self._spec, self._circumstances)
        self._chosen = next(self._rentable(self._plan.candidates), None)
        if self._chosen is None:
            raise OptionRefused(
                f"{' and '.join(self._engines)} cannot rent {self._plan.candidates[0].id}",
                remedy="Add `--on gcp`, or the engine that can to `where.engines`.",
            )
        self.engine = self._renter(self._chosen) or self.engine
        from windlass.governance.containers import check_image

        check_image(self._spec, self._home.engine(self.engine), path=self._path)
        _ = self._warnings  # Some of it is the end, and that comes before there is a run.
        return self._chosen

    def others(self) -> list[Candidate]:
        """Where else to ask, in order, once it was chosen; nothing where nothing is rented."""
        if self._plan is None:
            return []
        from windlass.planner.plan import all_failover

        return list(self._rentable(all_failover(self._plan)))

    def _rentable(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        return (one for one in candidates if self._renter(one))

    def _renter(self, candidate: Candidate) -> str | None:
        return renter(self._engines, is_slice=candidate.offer.slice is not None)

    def tell_before(self) -> None:
        """What will be rented, for a person, before it is."""
        if not self._is_shown or self._plan is None or self._chosen is None:
            return
        from windlass.cli import terminal
        from windlass.cli.plan_text import choice_text

        paint = terminal.Paint(sys.stderr)
        width = terminal.width(sys.stderr)
        text = choice_text(self._plan, self._chosen, paint, top=TOP, width=width)
        sys.stderr.write(text + "\n")
        for one in self._warnings:
            sys.stderr.write(f"{paint('warning:', 'yellow')} {one.name}: {one.said}\n")
            sys.stderr.write(f"  {one.remedy}\n")

    @cached_property
    def _warnings(self) -> list[Finding]:
        """What would soon go wrong or cost more than it must, as far as a few calls show."""
        if self._chosen is None or not self._is_real or not google_engines(self.engine):
            return []
        from windlass.cli.preflight import warnings

        return warnings(self._home, self.engine, self._spec, self._chosen)

    def tell_after(self) -> None:
        """Where nothing is rented: that, and once the run is starting what takes a moment to know,
        the price of the same in the cloud."""
        if not self._is_shown or self._is_rented:
            return
        self._say(f"plan: engine {self.engine}, nothing to rent")
        if not self._has_cloud_plan():
            return
        from windlass.cli.plan_text import glance

        try:
            said = glance(self._cloud_plan())
        except WindlassError as error:
            said = error.message
        self._say(f"plan: on Google Cloud {said}; more: windlass plan {self._path}")

    def document(self) -> dict[str, Any] | None:
        """The same for programs; None when it is not wanted."""
        if not self._is_shown:
            return None
        chosen = self._chosen
        return {
            "engine": self.engine,
            "is_rented": self._is_rented,
            "chosen": {"offer": chosen.id, "nodes": chosen.nodes} if chosen else None,
            "warnings": [
                {"name": one.name, "said": one.said, "remedy": one.remedy} for one in self._warnings
            ],
            "cloud": self._cloud_document(),
        }

    def _cloud_document(self) -> dict[str, Any] | None:
        if self._plan is None and not self._has_cloud_plan():
            return None
        from windlass.cli.plans import plan_document

        try:
            return plan_document(self._plan or self._cloud_plan(), top=TOP)
        except WindlassError:
            return None  # Nothing depends on it: the run goes on where nothing is rented.

    def _has_cloud_plan(self) -> bool:
        """Whether the spec says enough for the cloud to have a price, and none was told yet."""
        is_described = bool(self._spec.resources.accelerators) or self._spec.work is not None
        return is_described and not self._is_rented

    def _cloud_plan(self) -> Plan:
        from windlass.cli.planning import plan_in

        return plan_in(self._home, self._spec)

    def _say(self, text: str) -> None:
        from windlass.cli.terminal import Paint

        sys.stderr.write(Paint(sys.stderr)(text, "dim") + "\n")
        sys.stderr.flush()
