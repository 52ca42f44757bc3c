"""What a replica may know about itself.

Must not let it tell anything: replicas have no guest attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.machine import State
from windlass.twin.metadata.guest import Description
from windlass.twin.vertex.environment import hostname

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.machine import Machine
    from windlass.twin.vertex.trainings import Trainings

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


class ReplicaGuest:
    """Implements metadata.Guest."""

    def __init__(self, cloud: Cloud, trainings: Trainings) -> None:
        self._cloud = cloud
        self._trainings = trainings

    def described(self, machine: Machine) -> Description | None:
        """See metadata.Guest. Its tokens are of the account that the training names."""
        name, _, replica = machine.owner.rpartition(" ")
        training = self._trainings.find(name)
        if training is None:
            return None
        default = self._cloud.settings.default_service_account
        return Description(
            name=hostname(training, replica),
            number=machine.id,
            zone=machine.wanted.zone,
            machine_type=machine.wanted.type,
            service_account=training.spec.get("serviceAccount") or default,
            scopes=SCOPES,
            address=machine.address,
            is_preempted=machine.state is State.WARNED,
        )

    def guest_attributes(self, machine: Machine) -> dict[str, str] | None:
        """See metadata.Guest."""
        return None

    def set_guest_attribute(self, machine: Machine, path: str, value: str | None) -> None:
        """See metadata.Guest."""
