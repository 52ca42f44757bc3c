"""Which engines there are: a name and where its factory is imported from, late.

Must not import an engine until it is asked for. Others register under the entry-point group
`windlass.engines`; a factory takes an EngineSite.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.engines.base import Engine
from windlass.engines.needs import Needs
from windlass.engines.site import EngineSite
from windlass.errors import OptionRefused
from windlass.spec.suggest import did_you_mean

if TYPE_CHECKING:
    from windlass.catalog.model import Offer

ENGINES = {
    "compute": "windlass.engines.compute.factory:build",
    "local": "windlass.engines.local.factory:build",
    "tpu": "windlass.engines.tpu.factory:build",
    "vertex": "windlass.engines.vertex.factory:build",
}
NEEDS = {
    "compute": "windlass.engines.compute.needs:NEEDS",
    "tpu": "windlass.engines.tpu.needs:NEEDS",
    "vertex": "windlass.engines.vertex.needs:NEEDS",
}
"""Engines that rent from Google, and what they need of a project."""
ALL_OF_GOOGLE = "gcp"
"""What `--on` takes for all of them."""
_SLICES_ALONE = frozenset({"tpu"})
_MACHINES_ALONE = frozenset({"compute"})
MANAGED = frozenset({"vertex"})
"""They take a fee for what others rent out without, so that they are meant only by their names."""


def engine_names() -> list[str]:
    """Every engine that can be named with `--on`."""
    return sorted({*ENGINES, *_plugins()})


def unknown_engine(name: str) -> OptionRefused | None:
    """What is wrong with a name that `--on` or `where.engines` gives; None when nothing is."""
    names = [*engine_names(), ALL_OF_GOOGLE]
    if name in names:
        return None
    here = f"Engines here: {', '.join(sorted(names))}."
    remedy = did_you_mean(name, names, otherwise=here)
    return OptionRefused(f"there is no engine called {name!r}", remedy=remedy)


def build_engine(name: str, site: EngineSite) -> Engine[Any]:
    """The engine of that name."""
    target = ENGINES.get(name) or _plugins().get(name)
    if target is None:
        raise unknown_engine(name) or OptionRefused(
            f"{name!r} stands for several engines", remedy=f"Name one: {', '.join(engine_names())}."
        )
    module, _, attribute = target.partition(":")
    factory = getattr(importlib.import_module(module), attribute)
    engine: Engine[Any] = factory(site)
    return engine


def google_engines(name: str = ALL_OF_GOOGLE) -> list[str]:
    """The engines that rent from Google and are meant by this name; none for any other."""
    if name == ALL_OF_GOOGLE:
        return sorted(NEEDS)
    return [name] if name in NEEDS else []


def renter(names: Iterable[str], *, is_slice: bool) -> str | None:
    """The first of these engines that rents slices, or else machines; None when none does."""
    for name in names:
        every = [one for one in google_engines() if one not in MANAGED]
        for one in every if name == ALL_OF_GOOGLE else [name]:
            if one not in (_MACHINES_ALONE if is_slice else _SLICES_ALONE):
                return one
    return None


def is_managed(names: Iterable[str], *, is_slice: bool) -> bool:
    """Whether Google runs what these engines rent: for a fee, and where in a region it likes."""
    return renter(names, is_slice=is_slice) in MANAGED


def unsold(names: Iterable[str], offer: Offer) -> str:
    """Why an offer cannot be had of the one of these engines that would rent it out; empty when it
    can, or none of them does."""
    name = renter(names, is_slice=offer.slice is not None)
    return needs_of(name).unsold(offer) if name in NEEDS else ""


def needs_of(name: str) -> Needs:
    """What an engine that rents from Google needs of a project."""
    module, _, attribute = NEEDS[name].partition(":")
    needs: Needs = getattr(importlib.import_module(module), attribute)
    return needs


def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and rarely needed.

    return {point.name: point.value for point in entry_points(group="windlass.engines")}
