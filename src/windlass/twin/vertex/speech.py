"""What replicas print, as log entries; and what Vertex AI itself says about a training.

Must not read a machine twice: how far it was read is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.machine import State
from windlass.twin.vertex.environment import split

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.logging.logs import Logs
    from windlass.twin.machine import Machine
    from windlass.twin.vertex.training import Training

SERVICE = "service"
MOST_LINE = 16_384
"""Longer lines become several entries: Logging has a limit too."""


class Consoles(Protocol):
    """What machines have printed."""

    def console(self, machine_id: str, start: int = 0) -> bytes:
        """Everything from that byte on."""


class Speech:
    """Writes log entries for Vertex AI."""

    def __init__(
        self, cloud: Cloud, *, logs: Logs, fleet: Fleet, consoles: Consoles | None
    ) -> None:
        self._cloud = cloud
        self._logs = logs
        self._fleet = fleet
        self._consoles = consoles
        self._heads = cloud.documents("aiplatform.consoles")

    def say(self, training: Training, text: str, *, severity: str = "INFO") -> None:
        """Vertex AI says something about a training."""
        self._logs.write(self._entry(training.id, SERVICE, text, severity=severity))

    def listen(self, training: Training, replica: str, machine_id: str) -> None:
        """Read what that machine prints from now on."""
        # One that boots again goes on where it was.
        if machine_id not in self._heads:
            head = {"training": training.id, "replica": replica, "offset": 0}
            self._heads.put(machine_id, head)

    def collect(self) -> list[Machine]:
        """Write down what has been printed since last time; the machines that run and have lost
        their processes."""
        bereft = []
        for machine_id, _ in list(self._heads.items()):
            machine = self._fleet.get(machine_id)
            is_mute = machine is None or not machine.is_live
            self.drain(machine_id, is_last=is_mute)
            if machine is not None and is_mute and machine.state is State.RUNNING:
                bereft.append(machine)
        return bereft

    def drain(self, machine_id: str, *, is_last: bool) -> None:
        """Write down what one machine has printed; at last also a line that did not end."""
        head = self._heads.get(machine_id)
        if head is None:
            return
        content = self._consoles.console(machine_id, head["offset"]) if self._consoles else b""
        if not is_last:
            content = content[: content.rfind(b"\n") + 1]
        if content:
            lines = content.decode(errors="replace").splitlines()
            self._logs.write_all(
                self._entry(head["training"], head["replica"], piece)
                for line in lines
                for piece in _pieces(line.rstrip("\r"))
            )
            self._heads.put(machine_id, {**head, "offset": head["offset"] + len(content)})
        if is_last:
            self._heads.drop(machine_id)

    def _entry(
        self, training_id: str, replica: str, text: str, *, severity: str = "INFO"
    ) -> dict[str, Any]:
        settings = self._cloud.settings
        pool = "service" if replica == SERVICE else f"workerpool{split(replica)[0]}"
        return {
            "logName": self._logs.log_name(replica),
            "severity": severity,
            "jsonPayload": {"message": text, "levelname": severity},
            "resource": {
                "type": "ml_job",
                "labels": {
                    "project_id": settings.project,
                    "job_id": training_id,
                    "task_name": replica,
                },
            },
            "labels": {"ml.googleapis.com/job_id": training_id, "ml.googleapis.com/pool": pool},
        }


def _pieces(line: str) -> list[str]:
    return [line[at : at + MOST_LINE] for at in range(0, len(line), MOST_LINE)]
