"""What a preflight looks at: a project, the engines that are to use it, and perhaps a spec.

Must not look at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.catalog.query import Catalog
from windlass.engines.networks import DEFAULT
from windlass.google.session import Session
from windlass.policy.document import NO_POLICY, Policy
from windlass.spec.model import Spec

if TYPE_CHECKING:
    from windlass.catalog.model import Offer

USUAL_REGION = "us-central1"


class Wanted(NamedTuple):
    """An offer that the plan likes, and what the run would take of it."""

    offer: Offer
    chips: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is looked at."""

    session: Session
    project: str
    catalog: Catalog
    engines: tuple[str, ...]
    spec: Spec | None = None
    wanted: tuple[Wanted, ...] = ()
    """The plan's best, the best first."""
    run_folder: str = ""
    policy: Policy = NO_POLICY
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def options(self, engine: str) -> dict[str, Any]:
        """The engine's options for this spec."""
        own = self.spec.engine.get(engine, {}) if self.spec else {}
        return {**self.defaults.get(engine, {}), **own}

    def network(self, engine: str) -> str:
        """The name of the network that the engine's machines are in."""
        return str(self.options(engine).get("network") or DEFAULT).rpartition("/")[2]

    @property
    def regions(self) -> tuple[str, ...]:
        """Where the run would be."""
        found = dict.fromkeys(one.offer.region for one in self.wanted)
        return tuple(found) or (USUAL_REGION,)
