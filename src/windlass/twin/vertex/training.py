"""One CustomJob: what was asked for, where it is in its life, and how the API shows it.

Must not change by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windlass.twin.vertex.places import last, region_of

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

QUEUED, PENDING, RUNNING = "JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING"
SUCCEEDED, FAILED = "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED"
CANCELLING, CANCELLED = "JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"
OVER = frozenset({SUCCEEDED, FAILED, CANCELLED})


@dataclass(slots=True, kw_only=True)
class Training:
    """What Vertex AI calls a CustomJob."""

    name: str
    body: dict[str, Any]
    """As it was asked for."""
    created: float
    updated: float
    state: str = QUEUED
    zone: str = ""
    started: float | None = None
    ended: float | None = None
    error: dict[str, Any] | None = None
    replicas: dict[str, str] = field(default_factory=dict)
    """The machine of each replica, by its name: `workerpool0-0`."""
    up: list[str] = field(default_factory=list)
    """Replicas whose machine runs."""
    warned: list[str] = field(default_factory=list)
    """Replicas whose machine is about to be taken back."""
    restarts: int = 0
    leaving: list[str] = field(default_factory=list)
    """Machines that were told to end when it was cancelled."""

    @property
    def id(self) -> str:
        """Its number."""
        return last(self.name)

    @property
    def region(self) -> str:
        """Where it is."""
        return region_of(self.name)

    @property
    def spec(self) -> dict[str, Any]:
        """Its jobSpec."""
        spec: dict[str, Any] = self.body["jobSpec"]
        return spec

    @property
    def scheduling(self) -> dict[str, Any]:
        """How it is to be scheduled."""
        return self.spec.get("scheduling") or {}

    @property
    def labels(self) -> dict[str, str]:
        """The user's."""
        return self.body.get("labels") or {}

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.state in OVER

    @property
    def appointment(self) -> str:
        """The key of appointments of this start."""
        return f"{self.name} {self.restarts}"


def shown(training: Training, cloud: Cloud) -> dict[str, Any]:
    """As the API gives it."""
    document = {
        "name": training.name,
        **training.body,
        "state": training.state,
        "createTime": cloud.stamp(training.created),
        "updateTime": cloud.stamp(training.updated),
    }
    if training.started is not None:
        document["startTime"] = cloud.stamp(training.started)
    if training.ended is not None:
        document["endTime"] = cloud.stamp(training.ended)
    if training.error is not None:
        document["error"] = training.error
    return document


def encoded(training: Training) -> dict[str, Any]:
    """For the journal."""
    return {name: getattr(training, name) for name in Training.__slots__}


def decoded(document: dict[str, Any]) -> Training:
    """From the journal."""
    return Training(**document)
