"""Preflight of quotas: whether what the run would take is free, or what is free at all.

Must not ask for more: the fix is a command.
"""

from __future__ import annotations

from collections.abc import Iterator

from windlass.catalog.model import Buy
from windlass.engines.registry import needs_of
from windlass.google.quotas import COMPUTE, TPU
from windlass.governance.preflight.subject import Subject, Wanted
from windlass.governance.quota import Room, read_room
from windlass.policy.findings import Finding, bad, note, ok

SHOWN = 3


def quotas(subject: Subject) -> Iterator[Finding]:
    """Headroom, metric by metric."""
    room = read_room(subject.session, subject.project, subject.catalog)
    if subject.wanted:
        yield from _of_plan(subject, room)
    else:
        yield from _at_all(subject, room)


def _of_plan(subject: Subject, room: Room) -> Iterator[Finding]:
    """The plan's best places; bad only when none of them has room."""
    lines: dict[str, Finding] = {}
    has_room = False
    for wanted in subject.wanted:
        metric = wanted.offer.quota_metric
        if metric is None:
            has_room = True  # CPU machines are not counted by this.
            continue
        finding, fits = _judged(subject, room, wanted, metric)
        has_room |= fits
        lines.setdefault(f"{finding.name} {finding.said}", finding)
    for finding in list(lines.values())[:SHOWN]:
        if finding.verdict == "bad" and has_room:
            yield note(finding.name, finding.said, finding.remedy)
        else:
            yield finding


def _judged(subject: Subject, room: Room, wanted: Wanted, metric: str) -> tuple[Finding, bool]:
    offer = wanted.offer
    is_slice = offer.slice is not None
    place = offer.zone if is_slice else offer.region
    free = room.free(place, metric)
    name = f"quota {place}"
    if free is None:
        return note(name, f"the limit of {metric} is not known"), True
    said = f"{free:g} of {metric} free, {wanted.chips} needed"
    if free >= wanted.chips:
        return ok(name, said), True
    return bad(name, said, _more(subject, metric, place, wanted.chips)), False


def _at_all(subject: Subject, room: Room) -> Iterator[Finding]:
    """The most that each chip has anywhere, on demand and on spot; of chips that the engines
    rent."""
    kinds = {needs_of(name).takes_slices for name in subject.engines}
    for chip in subject.catalog.chips.values():
        if chip.is_tpu not in kinds:
            continue
        parts = []
        for buy in (Buy.ON_DEMAND, Buy.SPOT):
            metric = chip.quota.get(buy)
            places = [place for place, one in room.limits if one == metric]
            if metric is None or not places:
                continue
            best = max(places, key=lambda place: (room.free(place, metric) or 0.0, place))
            free = room.free(best, metric) or 0.0
            parts.append(f"{buy.value} {free:g} in {best}" if free else f"{buy.value} none")
        if parts:
            yield note(f"quota {chip.name}", "; ".join(parts))


def _more(subject: Subject, metric: str, place: str, wanted: int) -> str:
    """The command that asks Google for it."""
    base, _, family = metric.partition(":")
    is_slice = metric.endswith("ForTPUAPI")
    kind = "zone" if place.count("-") == 2 else "region"
    id_ = base if is_slice else f"{base.replace('_', '-')}-per-project-{kind}"
    dimensions = f"{kind}={place}"
    if family:
        dimension = "tpu_family" if base.startswith("TPUS") else "gpu_family"
        dimensions += f",{dimension}={family}"
    return (
        f"`gcloud beta quotas preferences create --service={TPU if is_slice else COMPUTE} "
        f"--quota-id={id_} --preferred-value={wanted} --dimensions={dimensions} "
        f"--project={subject.project}`, or allow other `where.regions`."
    )
