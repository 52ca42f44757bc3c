"""What stands in, on a rehearsal's stage, for things that only the user's own project has.

Must not reach for the things themselves: a rehearsal touches nothing of the user's.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from windlass.engines.registry import google_engines, needs_of

if TYPE_CHECKING:
    from windlass.rehearsal.stage import Stage
    from windlass.spec.model import Spec

ELSEWHERE = frozenset(
    "service_account network subnetwork network_attachment kms_key placement_policy image".split()
)
"""Options of engines that name something of a project: the stage has its usual one instead."""
ACCESSOR = "roles/secretmanager.secretAccessor"


class Staged(NamedTuple):
    """A spec that can be played, and what is not as it will be."""

    spec: Spec
    left_out: tuple[str, ...]


def staged(spec: Spec) -> Staged:
    """The spec with nothing of the user's project in it."""
    left_out = [
        f"engine.{engine}.{key}"
        for engine, options in spec.engine.items()
        for key in options
        if key in ELSEWHERE
    ]
    engines = {
        engine: {key: value for key, value in options.items() if key not in ELSEWHERE}
        for engine, options in spec.engine.items()
    }
    for engine in google_engines():
        if needs_of(engine).has_gpudirect:
            # GPUs of a twin talk over nothing, and need no networks of their own.
            engines[engine] = {**engines.get(engine, {}), "gpudirect": False}
    own = {name: name for name in spec.secrets}
    return Staged(replace(spec, engine=engines, secrets=own), tuple(left_out))


def keep_secrets(stage: Stage, secrets: Mapping[str, str], caller: Mapping[str, str]) -> list[str]:
    """Put the spec's secrets into the stage's own Secret Manager: what the caller's environment
    has, or else something to stand in; the names of the latter."""
    made_up = []
    for name, source in secrets.items():
        value = caller.get(source) or caller.get(name)
        if value is None:
            value = f"rehearsed-{name}"
            made_up.append(name)
        _keep(stage, name, value)
    return made_up


def _keep(stage: Stage, name: str, value: str) -> None:
    root = f"/secretmanager/v1/projects/{stage.project}/secrets"
    stage.ask("POST", f"{root}?secretId={name}", {"replication": {"automatic": {}}})
    data = base64.b64encode(value.encode()).decode()
    stage.ask("POST", f"{root}/{name}:addVersion", {"payload": {"data": data}})
    everybody = {"role": ACCESSOR, "members": ["allAuthenticatedUsers"]}
    stage.ask("POST", f"{root}/{name}:setIamPolicy", {"policy": {"bindings": [everybody]}})
