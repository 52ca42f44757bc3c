"""Which engines there are: a name and where its factory is imported from, late.

Must not import an engine until it is asked for. Others register under the entry-point group
`windlass.engines`; a factory takes an EngineSite.
"""

from __future__ import annotations

import importlib
from typing import Any

from windlass.engines.base import Engine
from windlass.engines.site import EngineSite
from windlass.errors import OptionRefused

ENGINES = {
    "compute": "windlass.engines.compute.factory:build",
    "local": "windlass.engines.local.factory:build",
    "tpu": "windlass.engines.tpu.factory:build",
    "vertex": "windlass.engines.vertex.factory:build",
}


def engine_names() -> list[str]:
    """Every engine that can be named with `--on`."""
    return sorted({*ENGINES, *_plugins()})


def build_engine(name: str, site: EngineSite) -> Engine[Any]:
    """The engine of that name."""
    target = ENGINES.get(name) or _plugins().get(name)
    if target is None:
        raise OptionRefused(
            f"there is no engine called {name!r}",
            remedy=f"Engines here: {', '.join(engine_names())}.",
        )
    module, _, attribute = target.partition(":")
    factory = getattr(importlib.import_module(module), attribute)
    engine: Engine[Any] = factory(site)
    return engine


def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and rarely needed.

    return {point.name: point.value for point in entry_points(group="windlass.engines")}
