"""What an ask for a training comes to: its jobSpec checked by Google's rules.

Must not start anything, nor look for room or quota.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.market import Model
from windlass.twin.vertex.kinds import Kind, Kinds, model
from windlass.twin.vertex.words import found_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

WEEK = 604_800.0
DAY = 86_400.0
MOST_POOLS = 4
SPEC = "job_spec"
LABEL_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
LABEL_VALUE = re.compile(r"[-_a-z0-9]{0,63}")

Problems = list[tuple[str, str]]


class Pool(NamedTuple):
    """Machines that run the same program."""

    kind: Kind
    machines: int
    """How many; a replica that is a TPU slice has several."""
    model: Model


def pools(spec: dict[str, Any], kinds: Kinds, *, problems: Problems | None = None) -> list[Pool]:
    """The pools of a jobSpec. One that was checked before has no problems."""
    found: Problems = [] if problems is None else problems
    scheduling = spec.get("scheduling") or {}
    pools = []
    for at, given in enumerate(spec.get("workerPoolSpecs") or []):
        machine = given.get("machineSpec") or {}
        field = f"{SPEC}.worker_pool_specs[{at}].machine_spec"
        count = int(given.get("replicaCount", 1))
        # A pool that is left empty keeps its place, for its number says what it is for.
        kind = kinds.kind(machine, found, field) if given else Kind("", "", 0)
        pools.append(Pool(kind, count * kind.hosts if given else 0, model(scheduling, machine)))
    return pools


def check(body: dict[str, Any], kinds: Kinds) -> list[Pool]:
    """The pools of a CustomJob, or a refusal that names every field that is wrong."""
    problems: Problems = []
    if not body.get("displayName"):
        problems.append(("display_name", "Required field is not set."))
    elif len(body["displayName"]) > 128:
        problems.append(("display_name", "Must be at most 128 characters."))
    problems += _label_problems(body.get("labels") or {})
    spec = body.get("jobSpec") or {}
    problems += _pool_problems(spec)
    found = pools(spec, kinds, problems=problems)
    if problems:
        raise found_errors(problems)
    return found


def _pool_problems(spec: dict[str, Any]) -> Iterator[tuple[str, str]]:
    given = spec.get("workerPoolSpecs") or []
    field = f"{SPEC}.worker_pool_specs"
    if not given:
        yield field, "Required field is not set."
        return
    if len(given) > MOST_POOLS:
        yield field, f"At most {MOST_POOLS} worker pools are allowed."
    if int(given[0].get("replicaCount", 1)) != 1:
        yield f"{field}[0].replica_count", "The first worker pool must have exactly one replica."
    for at, pool in enumerate(given):
        if not pool:
            continue
        container, package = pool.get("containerSpec"), pool.get("pythonPackageSpec")
        if bool(container) == bool(package):
            why = "Exactly one of container_spec and python_package_spec must be set."
            yield f"{field}[{at}].task", why
        elif container and not container.get("imageUri"):
            yield f"{field}[{at}].container_spec.image_uri", "Required field is not set."
        elif package and not (package.get("packageUris") and package.get("pythonModule")):
            yield f"{field}[{at}].python_package_spec", "Required field is not set."
        if int(pool.get("replicaCount", 1)) < 1:
            yield f"{field}[{at}].replica_count", "Must be at least 1."


def _label_problems(labels: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in labels.items():
        if not LABEL_KEY.fullmatch(key):
            yield "labels", f"Label key '{key}' is not valid."
        elif not LABEL_VALUE.fullmatch(value):
            yield "labels", f"Label value of '{key}' is not valid."


def seconds(text: str | None, usual: float) -> float:
    """A duration of protocol buffers: `3600s`."""
    return float(text.removesuffix("s")) if text else usual


def timeout(spec: dict[str, Any]) -> float:
    """How long a training may run; a week unless it says so."""
    return seconds((spec.get("scheduling") or {}).get("timeout"), WEEK) or WEEK


def longest_wait(spec: dict[str, Any]) -> float | None:
    """How long a flexible start waits for machines; None for as long as it takes."""
    return seconds((spec.get("scheduling") or {}).get("maxWaitDuration"), DAY) or None
