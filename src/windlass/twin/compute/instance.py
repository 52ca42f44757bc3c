"""One VM instance: what was asked for, what has become of it, and how the API shows it.

Must not change by itself. Instances that were asked for together share what they have in common:
there may be a hundred thousand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.fingerprints import fingerprint
from windlass.twin.compute.links import last
from windlass.twin.compute.scopes import Scope

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

DEFAULT_SCOPES = (
    "https://www.googleapis.com/auth/devstorage.read_only",
    "https://www.googleapis.com/auth/logging.write",
    "https://www.googleapis.com/auth/monitoring.write",
)


DEFAULT_DISK_GB = 10
# What is under a machine type, by the beginning of its name; the longest counts.
PLATFORMS = {
    "": "Intel Broadwell",
    "a2-": "Intel Cascade Lake",
    "a3-": "Intel Sapphire Rapids",
    "a3-ultragpu": "Intel Emerald Rapids",
    "a4-": "Intel Emerald Rapids",
    "c2-": "Intel Cascade Lake",
    "c3-": "Intel Sapphire Rapids",
    "c4-": "Intel Emerald Rapids",
    "g2-": "Intel Cascade Lake",
    "n1-": "Intel Skylake",
    "n2-": "Intel Cascade Lake",
}


@dataclass(slots=True, kw_only=True)
class Instance:
    """A VM instance."""

    name: str
    id: str
    scope: Scope
    properties: dict[str, Any]
    """As asked for, normalised; shared, so never changed in place."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields that were set since."""
    maintenance: str = "NONE"
    """What its guest is told about the host."""
    status: str
    machine: str
    number: int
    """Which machine of the project it is: its address follows from it."""
    created: float
    started: float | None = None
    stopped: float | None = None
    is_preempted: bool = False
    operation: str = ""
    """The one that waits for the machine to boot."""
    creator: str = ""
    """The key of what made it, if not a user: a managed instance group."""
    reservation: str = ""
    """The key of the reservation that it uses."""
    key: str = field(init=False)
    """On its shelf."""

    def __post_init__(self) -> None:
        self.key = self.scope.key(self.name)

    @property
    def link(self) -> str:
        """Its URL."""
        return self.scope.link("instances", self.name)

    @property
    def zone(self) -> str:
        """Where it is."""
        return self.scope.place

    def value(self, name: str, default: Any = None) -> Any:
        """A field as it is now."""
        if name in self.changes:
            return self.changes[name]
        return self.properties.get(name, default)

    @property
    def scheduling(self) -> dict[str, Any]:
        """How it is to run, with Google's defaults."""
        given: dict[str, Any] = dict(self.value("scheduling") or {})
        is_spot = given.get("provisioningModel") == "SPOT" or given.get("preemptible", False)
        given.setdefault("provisioningModel", "SPOT" if is_spot else "STANDARD")
        has_gpus = bool(self.value("guestAccelerators"))
        terminates = is_spot or has_gpus or given["provisioningModel"] != "STANDARD"
        given.setdefault("onHostMaintenance", "TERMINATE" if terminates else "MIGRATE")
        given.setdefault("automaticRestart", not is_spot)
        given["preemptible"] = is_spot
        if is_spot:
            given.setdefault("instanceTerminationAction", "STOP")
        return given

    @property
    def metadata(self) -> dict[str, str]:
        """Its own metadata by key."""
        items = (self.value("metadata") or {}).get("items", [])
        return {item["key"]: item.get("value", "") for item in items}

    def address(self, live: str) -> str:
        """Its internal address: that of its processes, or one of the subnetwork's."""
        return live or f"10.128.{self.number // 250 % 256}.{self.number % 250 + 2}"

    def external_address(self, live: str) -> str:
        """Its external address: of the block that is reserved for documentation, unless there
        are processes to talk to."""
        return live or f"203.0.113.{self.number % 250 + 2}"


def shown(
    instance: Instance, *, cloud: Cloud, live: str, ends_at: float | None = None
) -> dict[str, Any]:
    """The resource as the API gives it; `live` is the address of its processes, `ends_at` when
    its time to run is over."""
    value = instance.value
    metadata = dict(value("metadata") or {})
    labels = value("labels") or {}
    document: dict[str, Any] = {
        **{name: inner for name, inner in instance.properties.items() if inner is not None},
        **instance.changes,
        "kind": "compute#instance",
        "id": instance.id,
        "name": instance.name,
        "creationTimestamp": cloud.stamp(instance.created),
        "status": instance.status,
        "zone": instance.scope.link(),
        "selfLink": instance.link,
        "scheduling": instance.scheduling,
        "disks": [_disk(instance, index, one) for index, one in enumerate(value("disks") or [])],
        "networkInterfaces": _interfaces(instance, live),
        "metadata": {
            "kind": "compute#metadata",
            **metadata,
            "fingerprint": fingerprint(sorted(instance.metadata.items())),
        },
        "tags": {
            **(value("tags") or {}),
            "fingerprint": fingerprint((value("tags") or {}).get("items", [])),
        },
        "labelFingerprint": fingerprint(sorted(labels.items())),
        "serviceAccounts": _accounts(instance, cloud),
        "cpuPlatform": _platform(instance),
        "deletionProtection": bool(value("deletionProtection", False)),
        "startRestricted": False,
        "fingerprint": fingerprint((instance.id, instance.status, len(instance.changes))),
    }
    document.setdefault("canIpForward", False)
    document.setdefault(
        "shieldedInstanceConfig",
        {"enableSecureBoot": False, "enableVtpm": True, "enableIntegrityMonitoring": True},
    )
    document.setdefault("shieldedInstanceIntegrityPolicy", {"updateAutoLearnPolicy": True})
    if instance.started is not None:
        document["lastStartTimestamp"] = cloud.stamp(instance.started)
    if instance.stopped is not None:
        document["lastStopTimestamp"] = cloud.stamp(instance.stopped)
    if not labels:
        document.pop("labels", None)
    if not document["serviceAccounts"]:
        del document["serviceAccounts"]
    if not value("reservationAffinity"):
        document["reservationAffinity"] = {"consumeReservationType": "ANY_RESERVATION"}
    _add_status(document, instance, cloud=cloud, ends_at=ends_at)
    return document


def _add_status(
    document: dict[str, Any], instance: Instance, *, cloud: Cloud, ends_at: float | None
) -> None:
    """What Google knows about the machine beneath."""
    status = dict(instance.value("resourceStatus") or {})
    if instance.reservation:
        link = reservation_link(instance.reservation)
        status["reservationConsumptionInfo"] = {"consumedReservation": link}
    if ends_at is not None:
        status["scheduling"] = {"terminationTimestamp": cloud.stamp(ends_at)}
    if status:
        document["resourceStatus"] = status


def reservation_link(key: str) -> str:
    """The URL of a reservation of that key."""
    project, kind, place, name = key.split("/")
    return Scope(project, kind, place).link("reservations", name)


def disk_name(instance: Instance, index: int, asked: dict[str, Any]) -> str:
    """What the disk is called that was asked for with an instance."""
    given = asked.get("initializeParams", {}).get("diskName")
    if given:
        return str(given)
    return instance.name if index == 0 else f"{instance.name}-{index}"


def disk_size_gb(asked: dict[str, Any]) -> str:
    """How large it is, or is made."""
    size = asked.get("diskSizeGb") or asked.get("initializeParams", {}).get("diskSizeGb")
    return str(size or DEFAULT_DISK_GB)


def device_name(asked: dict[str, Any], index: int) -> str:
    """As the guest sees it."""
    return str(asked.get("deviceName") or f"persistent-disk-{index}")


def _platform(instance: Instance) -> str:
    if instance.status == "PROVISIONING":
        return "Unknown CPU Platform"
    kind = str(instance.value("machineType") or "").rpartition("/")[2]
    return PLATFORMS[max((one for one in PLATFORMS if kind.startswith(one)), key=len)]


def _disk(instance: Instance, index: int, asked: dict[str, Any]) -> dict[str, Any]:
    disk: dict[str, Any] = {
        "kind": "compute#attachedDisk",
        "index": index,
        "type": asked.get("type", "PERSISTENT"),
        "mode": asked.get("mode", "READ_WRITE"),
        "boot": bool(asked.get("boot", index == 0)),
        "autoDelete": bool(asked.get("autoDelete", False)),
        "deviceName": device_name(asked, index),
        "interface": asked.get("interface", "SCSI"),
        "diskSizeGb": disk_size_gb(asked),
    }
    if asked.get("type") != "SCRATCH":
        name = disk_name(instance, index, asked)
        disk["source"] = asked.get("source") or instance.scope.link("disks", name)
    return disk


def _interfaces(instance: Instance, live: str) -> list[dict[str, Any]]:
    network = f"projects/{instance.scope.project}"
    default_network = f"https://www.googleapis.com/compute/v1/{network}/global/networks/default"
    asked = instance.value("networkInterfaces") or [{"network": default_network}]
    is_off = instance.status in ("TERMINATED", "SUSPENDED")
    shown_ones = []
    for index, one in enumerate(asked):
        interface: dict[str, Any] = {
            "kind": "compute#networkInterface",
            **one,
            "name": f"nic{index}",
            "network": one.get("network") or default_network,
            "stackType": one.get("stackType", "IPV4_ONLY"),
            "fingerprint": fingerprint((instance.id, index)),
            "networkIP": one.get("networkIP") or instance.address(live if index == 0 else ""),
        }
        if "subnetwork" not in interface:
            name = last(interface["network"])
            region = instance.scope.region
            prefix = f"https://www.googleapis.com/compute/v1/{network}/regions/{region}"
            interface["subnetwork"] = f"{prefix}/subnetworks/{name}"
        if one.get("accessConfigs"):
            interface["accessConfigs"] = [
                _access(config, "" if is_off else instance.external_address(live))
                for config in one["accessConfigs"]
            ]
        shown_ones.append(interface)
    return shown_ones


def _access(config: dict[str, Any], address: str) -> dict[str, Any]:
    shown_one = {
        "kind": "compute#accessConfig",
        "name": "external-nat",
        "type": "ONE_TO_ONE_NAT",
        "networkTier": "PREMIUM",
        **config,
    }
    if address and "natIP" not in config:
        shown_one["natIP"] = address
    return shown_one


def _accounts(instance: Instance, cloud: Cloud) -> list[dict[str, Any]]:
    accounts = instance.value("serviceAccounts") or []
    default = cloud.settings.default_service_account
    return [
        {**one, "email": default if one.get("email") in (None, "default") else one["email"]}
        for one in accounts
    ]
