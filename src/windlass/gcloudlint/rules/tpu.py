"""Cloud TPU: names of accelerator types, runtime versions, the surface of TPU Nodes.

Must not know other services.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from windlass.gcloudlint.command import Command
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Edit, Found, Rule, Severity

TYPE_NAME = Rule(
    id="tpu-type-name",
    severity=Severity.ERROR,
    summary="Cloud TPU calls `v5e-4` `v5litepod-4`",
)
RUNTIME_MISMATCH = Rule(
    id="tpu-runtime-mismatch",
    severity=Severity.ERROR,
    summary="The runtime version is one of another TPU generation",
)
RUNTIME_OLD = Rule(
    id="tpu-runtime-old",
    severity=Severity.STALE,
    summary="`tpu-vm-base`, `tpu-vm-pt-*`, `tpu-vm-tf-*` are the old images",
)
LEGACY_SURFACE = Rule(
    id="tpu-legacy-surface",
    severity=Severity.STALE,
    summary="`compute tpus X` is of TPU Nodes; `compute tpus tpu-vm X` is of TPU VMs",
)
RULES = (TYPE_NAME, RUNTIME_MISMATCH, RUNTIME_OLD, LEGACY_SURFACE)

OLD_RUNTIME = re.compile(r"\btpu-vm-(?:v4-)?(?:base|(?:pt|tf)-\d[\w.]*(?:-[\w.]+)*)\b")
_FIRST_RUNTIME = "v2-alpha"
_MARKETED = re.compile(r"v5(?:e|lite)-(\d+)")
_LEGACY = re.compile(
    r"compute tpus (?:accelerator-types|versions|create|list|delete|describe|start|stop)\b"
)
BASE = "tpu-ubuntu2204-base"


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """Everything about TPUs."""
    if not command.path.startswith("compute tpus "):
        return
    yield from _type_name(command)
    yield from _runtime(command, facts)
    yield from _legacy(command)


def _type_name(command: Command) -> Iterator[Found]:
    flag = command.flag("--accelerator-type")
    found = _MARKETED.fullmatch(flag.value) if flag and not flag.is_open else None
    if flag and found:
        meant = f"v5litepod-{found[1]}"
        edits = flag.become(flag.name, meant)
        message = f"Cloud TPU knows {flag.value} as {meant}"
        yield Found(rule=TYPE_NAME, message=message, at=flag.at, edits=edits)


def _runtime(command: Command, facts: Facts) -> Iterator[Found]:
    flag = command.flag("--version", "--runtime-version")
    if flag is None or not flag.value or flag.is_open:
        return
    asked = _MARKETED.sub(r"v5litepod-\1", command.literal("--accelerator-type"))
    chip = facts.slices[asked].chip if asked in facts.slices else _generation(command)
    right = facts.runtimes.get(chip, BASE)
    edits = flag.become(flag.name, right)
    if flag.value in facts.runtimes.values():
        if chip and flag.value != right:
            message = f"{flag.value} is not for {chip}; {right} is"
            yield Found(rule=RUNTIME_MISMATCH, message=message, at=flag.at, edits=edits)
        return
    if not OLD_RUNTIME.fullmatch(flag.value) and flag.value != _FIRST_RUNTIME:
        return
    if right != BASE:
        message = f"{flag.value} does not know {chip}; {right} does"
        yield Found(rule=RUNTIME_MISMATCH, message=message, at=flag.at, edits=edits)
    else:
        yield Found(rule=RUNTIME_OLD, message=old_runtime(facts), at=flag.at, edits=edits)


def old_runtime(facts: Facts) -> str:
    """What to say about an old image."""
    newer = ", ".join(
        f"{chip}: {version}" for chip, version in facts.runtimes.items() if version != BASE
    )
    return f"this is an old image; up to v4 it is {BASE} ({newer})"


def _generation(command: Command) -> str:
    """The chip that an accelerator type of any size is of; nothing when it cannot be told."""
    asked = command.literal("--accelerator-type") or command.literal("--type")
    name = asked.partition("-")[0]
    return {"v5litepod": "v5e"}.get(name, name)


def _legacy(command: Command) -> Iterator[Found]:
    if _LEGACY.match(command.path):
        at = command.places[-len(command.names) + 1]
        message = "this is the surface of TPU Nodes, which are no longer made; tpu-vm's is today's"
        edits = (Edit(at=at, text="tpus tpu-vm"),)
        yield Found(rule=LEGACY_SURFACE, message=message, at=at, edits=edits)
