"""What an instance may know about itself, and what it tells about itself.

Must not let an instance change anything but its guest attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.instance import DEFAULT_SCOPES, Instance
from windlass.twin.compute.links import last
from windlass.twin.metadata.guest import Description

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.instances import Instances
    from windlass.twin.machine import Machine

TRUE = frozenset({"true", "1", "yes", "y"})


class InstanceGuest:
    """Implements metadata.Guest."""

    def __init__(self, cloud: Cloud, instances: Instances) -> None:
        self._cloud = cloud
        self._instances = instances
        self._told = instances.guest_attributes

    def described(self, machine: Machine) -> Description | None:
        """See metadata.Guest."""
        instance = self._instances.find(machine.owner)
        if instance is None:
            return None
        shown = self._instances.shown(instance)
        account = (shown.get("serviceAccounts") or [{}])[0]
        interface = shown["networkInterfaces"][0]
        accesses = interface.get("accessConfigs") or [{}]
        return Description(
            name=instance.name,
            number=instance.id,
            zone=instance.zone,
            machine_type=last(shown["machineType"]),
            attributes=instance.metadata,
            project_attributes=self._instances.project_metadata,
            service_account=account.get("email", ""),
            scopes=account.get("scopes") or DEFAULT_SCOPES,
            tags=shown["tags"].get("items", ()),
            image=_image(instance),
            address=interface["networkIP"],
            external_address=accesses[0].get("natIP", ""),
            network=last(interface["network"]),
            scheduling=_scheduling(shown["scheduling"]),
            is_preempted=instance.is_preempted,
            maintenance=instance.maintenance,
            disks=[_disk(one) for one in shown["disks"]],
        )

    def guest_attributes(self, machine: Machine) -> dict[str, str] | None:
        """See metadata.Guest."""
        instance = self._instances.find(machine.owner)
        return None if instance is None else self.told(instance)

    def told(self, instance: Instance) -> dict[str, str] | None:
        """What an instance has told; None where its metadata does not let it."""
        metadata = {**self._instances.project_metadata, **instance.metadata}
        if metadata.get("enable-guest-attributes", "").lower() not in TRUE:
            return None
        return dict(self._told.of(instance))

    def set_guest_attribute(self, machine: Machine, path: str, value: str | None) -> None:
        """See metadata.Guest."""
        instance = self._instances.find(machine.owner)
        if instance is None:
            return
        if value is None:
            self._told.drop(instance, path)
        else:
            self._told.put(instance, path, value)


def _image(instance: Instance) -> str:
    disks = instance.value("disks") or [{}]
    url = str(disks[0].get("initializeParams", {}).get("sourceImage", ""))
    return url.partition("/compute/v1/")[2] or url


def _scheduling(scheduling: dict[str, Any]) -> dict[str, str]:
    return {
        "automatic-restart": str(scheduling["automaticRestart"]).upper(),
        "on-host-maintenance": scheduling["onHostMaintenance"],
        "preemptible": str(scheduling["preemptible"]).upper(),
    }


def _disk(disk: dict[str, Any]) -> dict[str, Any]:
    return {
        "device-name": disk["deviceName"],
        "index": disk["index"],
        "interface": disk["interface"],
        "mode": disk["mode"],
        "type": disk["type"],
    }
