"""What the states of a custom training mean for a claim.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from windlass.engines.base import Observation, Seen
from windlass.engines.vertex.request import FOLDER_VARIABLE
from windlass.errors import OutOfStock, QuotaExceeded
from windlass.google.refusals import QUOTA_WORDS, STOCKOUT_WORDS

WAITING = {
    "JOB_STATE_QUEUED": "it is in Vertex AI's queue",
    "JOB_STATE_PENDING": "Vertex AI is looking for its machines",
}
PATIENCE_S = 900.0
"""Where there are no machines Vertex AI mostly says so after some minutes. Nobody has promised it,
and machines and images that are to be had take minutes too."""
UP = frozenset(
    {"JOB_STATE_RUNNING", "JOB_STATE_CANCELLING", "JOB_STATE_UPDATING", "JOB_STATE_PAUSED"}
)
LIVE = frozenset({*WAITING, *UP})
EXHAUSTED = 8
"""google.rpc.Code for what there is not enough of."""

Document = Mapping[str, Any]


def seen(trainings: Iterable[Document]) -> Observation:
    """What has become of a claim, by all trainings that were made for it: more than one where an
    answer was lost."""
    found = sorted(trainings, key=lambda one: str(one.get("createTime", "")))
    states = {str(one.get("state", "")) for one in found}
    if states & UP:
        return Observation(seen=Seen.RUNNING, up_at=_up_at(found))
    for state, reason in WAITING.items():
        if state in states:
            return Observation(seen=Seen.PENDING, reason=reason, patience_s=PATIENCE_S)
    return _ended(found) if found else Observation(seen=Seen.GONE)


def is_live(training: Document) -> bool:
    """Whether there is something of it, or may yet be."""
    return training.get("state") in LIVE


def folder_of(training: Document) -> str:
    """The URL of its claim's folder."""
    pools = (training.get("jobSpec") or {}).get("workerPoolSpecs") or [{}]
    given = (pools[0].get("containerSpec") or {}).get("env") or ()
    found = [str(one.get("value", "")) for one in given if one.get("name") == FOLDER_VARIABLE]
    return found[0] if found else ""


def _up_at(trainings: Iterable[Document]) -> float | None:
    """Since when machines are paid for: when all of a training were there."""
    began = [str(one["startTime"]) for one in trainings if "startTime" in one]
    return datetime.fromisoformat(min(began)).timestamp() if began else None


def _ended(trainings: Sequence[Document]) -> Observation:
    training = trainings[-1]
    ends = [str(one["endTime"]) for one in trainings if "endTime" in one]
    down_at = datetime.fromisoformat(max(ends)).timestamp() if ends else None
    error = training.get("error") or {}
    message = str(error.get("message", ""))
    refused = ""
    never_ran = "startTime" not in training
    if never_ran and QUOTA_WORDS.search(message):
        refused = QuotaExceeded.code
    elif never_ran and (error.get("code") == EXHAUSTED or STOCKOUT_WORDS.search(message)):
        refused = OutOfStock.code
    return Observation(seen=Seen.GONE, reason=message, refused=refused, down_at=down_at)
