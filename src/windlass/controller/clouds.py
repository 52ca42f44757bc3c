"""Which cloud a run is of: Google's own, or a twin of it.

Must not ask either: the environment says which one this process talks to. What one of them says
tells nothing about a run on the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from windlass.errors import RunElsewhere
from windlass.state.model import Charge, Run

VARIABLE = "WINDLASS_CLOUD"
"""Set, with everything else that leads there, by `windlass twin env`, `exec` and `shell`."""
GOOGLE = "google"
TWIN = "twin:"
"""Before the twin's folder, which outlives its process, its port and a reset."""
INTO_TWIN = "windlass twin exec -- windlass"


def cloud_here(caller: Mapping[str, str]) -> str:
    """The cloud that whoever has this environment talks to."""
    return caller.get(VARIABLE) or GOOGLE


def is_within(one: Run | Charge, cloud: str) -> bool:
    """Whether it is for who talks to this cloud; an empty one is every cloud."""
    return not one.cloud or not cloud or one.cloud == cloud


def named(cloud: str) -> str:
    """For a sentence."""
    return f"the twin in {cloud.removeprefix(TWIN)}" if is_twin(cloud) else "Google Cloud"


def is_twin(cloud: str) -> bool:
    """Whether it is not Google itself."""
    return cloud.startswith(TWIN)


def way_to(cloud: str, *, words: str = "…") -> str:
    """How to give a command that reaches the cloud."""
    if is_twin(cloud):
        return f"Give the command as `{INTO_TWIN} {words}`, or in a `windlass twin shell`."
    return "Give the command in a shell that does not talk to the twin."


def elsewhere(run: Run, *, here: str) -> RunElsewhere:
    """The run cannot be asked about from here."""
    return RunElsewhere(
        f"{run.id} is on {named(run.cloud)}, and this command talks to {named(here)}",
        remedy=way_to(run.cloud),
    )
