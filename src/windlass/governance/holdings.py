"""Everything of ours in a project, whoever made it: found by label, or by what stands for one.

Must not judge what may go (reaping.py does), nor price it (prices.py does).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from windlass.engines.descriptions import pairs_of
from windlass.engines.labels import CLAIM_LABEL, EXPIRY_LABEL, OURS, RUN_LABEL
from windlass.errors import ApiDisabled, CredentialsMissing, WindlassError
from windlass.google.compute import Compute
from windlass.google.session import Session
from windlass.google.storage import Buckets
from windlass.google.tpu import EVERYWHERE, Tpu
from windlass.google.vertex import Vertex

LABELLED = f"labels.{OURS}=true"
KEEP = "keep"
GLOBAL = "global"
OVER = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")
# What there is besides machines: collection, what people call it, whether it can carry labels.
SUNDRY = (
    ("disks", "disk", True),
    ("addresses", "address", True),
    ("instanceGroupManagers", "group", False),
    ("instanceTemplates", "template", False),
    ("resourcePolicies", "placement", False),
    ("subnetworks", "subnetwork", False),
    ("routers", "router", False),
)
EVERYWHERE_ONCE = (
    ("networks", "network"),
    ("firewalls", "firewall"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One thing of ours at Google."""

    kind: str
    """`instance`, `disk`, `slice`, `queued`, `training`, `bucket`, `network` and so on."""
    name: str
    place: str
    """A zone, a region or `global`."""
    collection: str
    """As its API calls it; empty where there is only one."""
    pairs: Mapping[str, str] = field(default_factory=dict, hash=False)
    made_at: float | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False)
    parent: str = ""
    """What it goes with when that goes."""

    @property
    def run(self) -> str:
        """The run that it is of, as labels have it; empty for what is of none."""
        return self.pairs.get(RUN_LABEL, "")

    @property
    def claim(self) -> str:
        """The claim that it is of, as labels have it."""
        return self.pairs.get(CLAIM_LABEL, "")

    @property
    def expires_at(self) -> float | None:
        """When nobody can want it any more."""
        text = self.pairs.get(EXPIRY_LABEL, "")
        return float(text) if text.isdecimal() else None

    @property
    def is_kept(self) -> bool:
        """Whether somebody has said that it stays."""
        return self.pairs.get(KEEP) == "true"


Look = Callable[[], Iterator[Holding]]


class Unseen(NamedTuple):
    """What could not be looked at, and why."""

    what: str
    why: str


class Survey(NamedTuple):
    """What a look at a project showed."""

    holdings: tuple[Holding, ...]
    unseen: tuple[Unseen, ...]


def survey(session: Session, project: str, *, regions: Iterable[str]) -> Survey:
    """Everything of ours. What cannot be looked at is told, and hides nothing else; an API that
    is off holds nothing."""
    compute, tpu = Compute(session, project), Tpu(session, project)
    vertex = Vertex(session, project)
    looks: list[tuple[str, Look]] = [
        ("instances", partial(_instances, compute)),
        ("queued resources", partial(_queued, tpu)),
        ("slices", partial(_slices, tpu)),
        ("disks, addresses and networks", partial(_sundry, compute)),
        ("buckets", partial(_buckets, Buckets(session, project))),
    ]
    found: list[Holding] = []
    unseen: list[Unseen] = []
    for what, look in looks:
        _take(what, look, found, unseen)
    for region in regions:
        look = partial(_trainings, vertex, region)
        if not _take(f"trainings in {region}", look, found, unseen):
            break
    return Survey(tuple(found), tuple(unseen))


def _take(
    what: str,
    look: Look,
    found: list[Holding],
    unseen: list[Unseen],
) -> bool:
    """False when there is no use in asking the same API again."""
    try:
        found.extend(look())
    except ApiDisabled:
        return False
    except CredentialsMissing:
        raise  # Nothing at all can be looked at.
    except WindlassError as error:
        unseen.append(Unseen(what, error.message))
        return False
    return True


def _instances(compute: Compute) -> Iterator[Holding]:
    for scope, one in compute.everywhere("instances", where=LABELLED):
        yield _holding("instance", "instances", scope, one)


def _sundry(compute: Compute) -> Iterator[Holding]:
    for collection, kind, has_labels in SUNDRY:
        where = LABELLED if has_labels else ""
        for scope, one in compute.everywhere(collection, where=where):
            holding = _holding(kind, collection, scope, one)
            if holding.pairs:
                yield holding
    for collection, kind in EVERYWHERE_ONCE:
        for one in compute.listed(GLOBAL, collection):
            holding = _holding(kind, collection, GLOBAL, one)
            if holding.pairs:
                yield holding


def _holding(kind: str, collection: str, scope: str, one: Mapping[str, Any]) -> Holding:
    users = one.get("users") or ()
    labels = one.get("labels") or {}
    is_ours = labels.get(OURS) == "true"
    return Holding(
        kind=kind,
        name=str(one["name"]),
        place=scope.rpartition("/")[2],
        collection=collection,
        pairs=labels if is_ours else pairs_of(str(one.get("description", ""))),
        made_at=moment(one.get("creationTimestamp")),
        raw=one,
        parent=str(users[0]).rpartition("/")[2] if users else "",
    )


def _queued(tpu: Tpu) -> Iterator[Holding]:
    for one in tpu.queued(EVERYWHERE):
        specs = _at(one, "tpu.nodeSpec") or ()
        labels = _at(specs[0], "node.labels") if specs else None
        if (labels or {}).get(OURS) == "true":
            yield _located("queued", "queuedResources", one, labels or {})


def _slices(tpu: Tpu) -> Iterator[Holding]:
    for one in tpu.nodes(EVERYWHERE):
        labels = one.get("labels") or {}
        if labels.get(OURS) == "true":
            yield _located("slice", "nodes", one, labels)


def _located(
    kind: str, collection: str, one: Mapping[str, Any], labels: Mapping[str, str]
) -> Holding:
    words = str(one["name"]).split("/")
    return Holding(
        kind=kind,
        name=words[-1],
        place=words[3],
        collection=collection,
        pairs=labels,
        made_at=moment(one.get("createTime")),
        raw=one,
        parent=str(one.get("queuedResource", "")).rpartition("/")[2],
    )


def _trainings(vertex: Vertex, region: str) -> Iterator[Holding]:
    for one in vertex.listed(region, where=f'labels.{OURS}="true"'):
        if one.get("state") not in OVER:
            holding = _located("training", "customJobs", one, one.get("labels") or {})
            yield holding


def _buckets(buckets: Buckets) -> Iterator[Holding]:
    for one in buckets.listed():
        labels = one.get("labels") or {}
        if labels.get(OURS) == "true":
            yield Holding(
                kind="bucket",
                name=str(one["name"]),
                place=str(one.get("location", "")).lower(),
                collection="buckets",
                pairs=labels,
                made_at=moment(one.get("timeCreated")),
                raw=one,
            )


def _at(value: Any, path: str) -> Any:
    """What stands at a path of keys; None where something is missing."""
    for key in path.split("."):
        value = (value or {}).get(key)
    return value


def moment(text: Any) -> float | None:
    """When that was; None for what is no time."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
