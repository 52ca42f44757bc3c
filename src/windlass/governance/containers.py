"""Refuses a spec that names a container where none is run: its ranks would miss what is in it.

Must not choose another engine: that is the user's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from windlass.engines.base import Engine
from windlass.errors import Problem, SpecInvalid
from windlass.spec.document import read_bounded
from windlass.spec.model import Spec
from windlass.spec.places import Places


def check_image(spec: Spec, engine: Engine[Any], *, path: Path) -> None:
    """SpecInvalid, with its line, when the spec of that file has an `image` and the engine rents
    machines that would not run it."""
    limits = engine.limits()
    if spec.image is None or limits.runs_containers or not limits.is_rented:
        return
    places = Places(read_bounded(path), path=str(path))
    place = places.at(("image",))
    problem = Problem(
        code="no-containers",
        path=str(path),
        line=place.line,
        column=place.column,
        message=f"the engine {engine.name} runs no containers, and so not {spec.image}",
        remedy="Leave `image` out and install what ranks need with `setup`, or use `--on vertex`.",
        source=places.line(place.line),
    )
    raise SpecInvalid(str(path), [problem])
