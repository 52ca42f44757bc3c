"""What a twin still holds of ours: everything that costs money, or that a claim has made.

Must not ask as an engine does: it asks for all there is, of whatever kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from windlass.twin.assembly import Twin
from windlass.twin.messages import Request

COMPUTE = "/compute/v1/projects/twin-project/aggregated"
MADE = ("instances", "disks", "instanceGroupManagers", "instanceTemplates", "resourcePolicies")
TPU = "/v2/projects/twin-project/locations/-"


def left_in(twin: Twin, *, token: str) -> list[str]:
    """In words, machines first."""
    found = [f"machine {one.owner} is {one.state}" for one in twin.fleet.all()]
    for kind in MADE:
        said = _listed(twin, "compute.googleapis.com", f"{COMPUTE}/{kind}", token)
        for part in said.get("items", {}).values():
            found += [f"{kind} has {one['name']}" for one in part.get(kind, ())]
    for kind in ("queuedResources", "nodes"):
        said = _listed(twin, "tpu.googleapis.com", f"{TPU}/{kind}", token)
        found += [f"{kind} has {one['name']}" for one in said.get(kind, ())]
    return [*found, *_trainings(twin)]


def _trainings(twin: Twin) -> Iterator[str]:
    for training in twin.vertex.trainings.under(""):
        if not training.is_over:
            yield f"training {training.name} is {training.state}"


def _listed(twin: Twin, host: str, path: str, token: str) -> Any:
    headers = {"authorization": f"Bearer {token}"}
    response = twin.door.answer(Request(method="GET", host=host, path=path, headers=headers))
    assert response.status == 200 and isinstance(response.content, bytes), response
    return json.loads(response.content)
