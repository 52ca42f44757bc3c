"""The first claim of a run that nobody has submitted: what `windlass render` shows.

Must not write anything, nor read a clock: a spec that is shown twice looks the same.
"""

from __future__ import annotations

from windlass.controller.request import first_request
from windlass.controller.submission import Ask, new_run
from windlass.engines.base import ClaimRequest
from windlass.spec.names import slug

MARK = "00000"
"""Where the id of a real run has something of its own."""
BEGINNING = 0.0
"""All times count from here. Machines that are asked for with it have expired long ago, so that
those somebody makes by hand do not stay."""


def preview_id(name: str) -> str:
    """The id of the run."""
    return f"{slug(name)}-{MARK}"


def preview(ask: Ask, *, folder: str) -> ClaimRequest:
    """What the engine is asked for first, on the first of the ask's gangs."""
    run = new_run(ask, run_id=preview_id(ask.spec.name), now=BEGINNING)
    return first_request(run, folder=folder)
