"""What an engine would be asked for, in the words that a person chose.

Must not ask anything of an engine but to render: nothing is sent.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windlass.errors import EngineRejected, OptionRefused

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.controller.submission import Ask
    from windlass.engines.base import Engine
    from windlass.engines.rendering import Renders
    from windlass.planner.candidates import Candidate
    from windlass.spec.model import Spec

REQUEST, GCLOUD, TERRAFORM = FORMATS = ("request", "gcloud", "terraform")


class Rendered:
    """One request, in any of the formats."""

    def __init__(self, engine: Engine[Any], request: Any, *, offer: str) -> None:
        self._engine = engine
        self._request = request
        self.offer = offer

    def text(self, form: str) -> str:
        """For people, and for files."""
        if form == REQUEST:
            return json.dumps(self.document(form)["requests"], indent=2, ensure_ascii=False) + "\n"
        renders = self._renders(form)
        return renders.gcloud(self._request) if form == GCLOUD else renders.terraform(self._request)

    def document(self, form: str) -> dict[str, Any]:
        """For programs."""
        from windlass.engines.rendering import Renders

        about = {"engine": self._engine.name, "offer": self.offer or None, "format": form}
        if form != REQUEST:
            return {**about, "text": self.text(form)}
        if isinstance(self._engine, Renders):
            sent = [call.document() for call in self._engine.calls(self._request)]
        else:
            sent = [{"body": self._request.to_json()}]
        return {**about, "requests": sent}

    def _renders(self, form: str) -> Renders[Any]:
        from windlass.engines.rendering import Renders

        if not isinstance(self._engine, Renders):
            raise OptionRefused(
                f"what the engine {self._engine.name} is asked for has no form `{form}`",
                remedy="Use `--format request`.",
            )
        return self._engine


def render(home: Home, spec: Spec, path: Path, *, engine: str, offer: str | None) -> Rendered:
    """What a run of the spec would ask the engine for first: the best offer that the engine can
    take, or the one that is named."""
    from windlass.controller.preview import preview, preview_id
    from windlass.governance.containers import check_image

    built = _engine(home, engine)
    check_image(spec, built, path=path)
    folder = home.folders.new_url(preview_id(spec.name))
    refusals: list[EngineRejected] = []
    for ask, name in _asks(home, spec, path, built, offer=offer):
        try:
            return Rendered(built, built.render(preview(ask, folder=folder)), offer=name)
        except EngineRejected as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _asks(
    home: Home, spec: Spec, path: Path, engine: Engine[Any], *, offer: str | None
) -> Iterator[tuple[Ask, str]]:
    from windlass.controller.renting import rented
    from windlass.controller.submission import Ask

    ask = Ask(
        spec=spec,
        spec_file=path,
        engine=engine.name,
        owner=home.config.owner or getpass.getuser(),
        is_emulated=False,
        environment={},
        caller={},
    )
    if not engine.limits().is_rented:
        yield ask, ""
        return
    from windlass.cli.planning import feasible_plan

    for found in _candidates(feasible_plan(home, spec).candidates, offer):
        yield replace(ask, rented=(rented(found),)), found.id


def _candidates(candidates: Iterable[Candidate], offer: str | None) -> list[Candidate]:
    listed = list(candidates)
    chosen = [found for found in listed if offer in (None, found.id, found.offer.id)]
    if not chosen:
        raise OptionRefused(
            f"{offer} is none of the plan's offers",
            remedy=f"Offers look like {listed[0].id}; `windlass plan SPEC --top 100` lists them.",
        )
    return chosen


def _engine(home: Home, name: str) -> Engine[Any]:
    """The engine; one that rents does not bring the agent into the bucket for this."""
    from windlass.engines.registry import build_engine

    site = home.site
    if site.google is not None:
        from windlass.agent.pack import build

        agent = home.path / "agent"
        google = replace(site.google, agent_url=lambda: home.folders.agent_place(build(agent)))
        site = replace(site, google=google)
    return build_engine(name, site)
