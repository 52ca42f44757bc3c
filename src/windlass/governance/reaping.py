"""What may be deleted of what we hold, in which order, and why.

Must not delete what somebody wants: a run that lives, a thing that is kept, a store's stranger.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from windlass.engines.labels import label_value
from windlass.errors import EngineRejected, WindlassError
from windlass.google.compute import Compute
from windlass.google.session import Session, Taken
from windlass.google.storage import Buckets
from windlass.google.tpu import Tpu
from windlass.google.vertex import Vertex
from windlass.governance.holdings import Holding
from windlass.governance.prices import Prices
from windlass.governance.waiting import Pause, Waiting
from windlass.state.model import Run
from windlass.state.phases import is_ended

_Operation = Mapping[str, Any]


class Verdict(StrEnum):
    """Whether a thing is wanted. In the order to show them."""

    EXPIRED = "expired"
    """Its time is over, whoever wanted it."""
    ORPHAN = "orphan"
    """Its run has ended."""
    STRANGER = "stranger"
    """This store has never heard of its run; a colleague's may have."""
    LIVE = "live"
    STANDING = "standing"
    """Of no run: made on purpose, to stay until it is taken down."""
    KEPT = "kept"


# What is deleted first; the rest hangs on it.
ORDER = (
    "training queued slice group template instance disk address placement router firewall "
    "subnetwork network bucket"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A thing, and whether it may go."""

    holding: Holding
    verdict: Verdict
    usd_per_day: float | None
    age_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a user wants to be rid of."""

    strangers: bool = False
    older_than_s: float = 0.0


def judge(
    holdings: Iterable[Holding], runs: Collection[Run], *, prices: Prices, now: float
) -> list[Judged]:
    """Each with its verdict; what may go first, and of that the dearest first."""
    live = {label_value(run.id): not is_ended(run.phase) for run in runs}
    found = [
        Judged(
            holding=one,
            verdict=_verdict(one, live, now=now),
            usd_per_day=prices.usd_per_day(one),
            age_s=now - one.made_at if one.made_at is not None else None,
        )
        for one in holdings
    ]
    verdicts = list(Verdict)
    return sorted(
        found,
        key=lambda one: (
            verdicts.index(one.verdict),
            -(one.usd_per_day or 0.0),
            ORDER.index(one.holding.kind),
            one.holding.place,
            one.holding.name,
        ),
    )


def _verdict(one: Holding, live: Mapping[str, bool], *, now: float) -> Verdict:
    if one.is_kept:
        return Verdict.KEPT
    if one.expires_at is not None and one.expires_at < now:
        return Verdict.EXPIRED
    if not one.run:
        return Verdict.STANDING
    if one.run not in live:
        return Verdict.STRANGER
    return Verdict.LIVE if live[one.run] else Verdict.ORPHAN


def reapable(judged: Iterable[Judged], wish: Wish) -> list[Judged]:
    """What is deleted, in its order."""
    wanted = {Verdict.EXPIRED, Verdict.ORPHAN}
    if wish.strangers:
        wanted.add(Verdict.STRANGER)
    found = [
        one
        for one in judged
        if one.verdict in wanted and (one.age_s is None or one.age_s >= wish.older_than_s)
    ]
    return sorted(found, key=lambda one: ORDER.index(one.holding.kind))


class Reaper:
    """Deletes things, one after the other."""

    def __init__(self, session: Session, project: str, *, pause: Pause) -> None:
        self._compute = Compute(session, project)
        self._waiting = Waiting(self._compute, pause)
        self._tpu = Tpu(session, project)
        self._vertex = Vertex(session, project)
        self._buckets = Buckets(session, project)

    def reap(self, judged: Sequence[Judged]) -> Iterator[tuple[Judged, WindlassError | None]]:
        """Each as it is gone, with what stood in the way. Those of one kind go at the same time;
        what goes with something that was deleted before it is left to that."""
        gone: set[str] = set()
        for _, group in itertools.groupby(judged, key=lambda one: one.holding.kind):
            asked = [(one, self._ask(one.holding, gone)) for one in group]
            for one, answer in asked:
                error = answer if isinstance(answer, WindlassError) else self._wait(one, answer)
                if error is None:
                    gone.add(one.holding.name)
                yield one, error

    def _ask(self, one: Holding, gone: Collection[str]) -> _Operation | WindlassError | None:
        """What to wait for, if there is anything."""
        if one.parent in gone:
            return None
        try:
            return self._delete(one)
        except WindlassError as error:
            return error

    def _wait(self, one: Judged, operation: _Operation | None) -> WindlassError | None:
        if operation is None:
            return None
        name = one.holding.name
        try:
            self._waiting.until_done(_scope(one.holding.place), operation, what=f"deleting {name}")
        except WindlassError as error:
            return error
        return None

    def _delete(self, one: Holding) -> _Operation | None:
        if one.kind == "queued":
            self._tpu.delete_queued(one.place, one.name)
        elif one.kind == "slice":
            self._tpu.delete_node(one.place, one.name)
        elif one.kind == "training":
            self._vertex.cancel(str(one.raw["name"]))
        elif one.kind == "bucket":
            self._delete_bucket(one.name)
        else:
            return self._compute.delete(_scope(one.place), one.collection, one.name)
        return None

    def _delete_bucket(self, name: str) -> None:
        try:
            self._buckets.delete(name)
        except Taken as exc:
            raise EngineRejected(
                f"the bucket {name} is not empty",
                remedy=f"Look first: `gcloud storage ls gs://{name}`; then "
                f"`gcloud storage rm -r gs://{name}`.",
            ) from exc


def _scope(place: str) -> str:
    if place == "global":
        return place
    return f"zones/{place}" if place.count("-") == 2 else f"regions/{place}"
