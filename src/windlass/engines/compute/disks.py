"""The disks of a gang's machines: what they boot from, and scratch space.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windlass.catalog.model import Offer
from windlass.engines.compute.options import ComputeOptions
from windlass.errors import EngineRejected

HYPERDISK_ONLY = (
    "a3-ultragpu-",
    "a4-",
    "a4x-",
    "c4-",
    "c4a-",
    "c4d-",
    "g4-",
    "h4d-",
    "m4-",
    "n4-",
    "n4d-",
    "x4-",
)
"""What names of machine types begin with that cannot boot from Persistent Disk."""


def disks(
    offer: Offer, options: ComputeOptions, *, image: str, labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The boot disk, and scratch disks where the machine type does not bring its own."""
    boot: dict[str, Any] = {
        "boot": True,
        "autoDelete": True,
        "initializeParams": {
            "sourceImage": image,
            "diskSizeGb": str(options.disk_gb),
            "diskType": disk_type(offer.machine.name),
            "labels": dict(labels),
        },
    }
    if options.kms_key:
        boot["diskEncryptionKey"] = {"kmsKeyName": options.kms_key}
    if options.local_ssds and offer.machine.local_ssd_gib:
        raise EngineRejected(
            f"{offer.machine.name} has {offer.machine.local_ssd_gib:g} GiB of local SSD already",
            remedy="Leave out engine.compute.local_ssds.",
        )
    scratch = {
        "type": "SCRATCH",
        "autoDelete": True,
        "interface": "NVME",
        "initializeParams": {"diskType": "local-ssd"},
    }
    return [boot, *({**scratch} for _ in range(options.local_ssds))]


def disk_type(machine: str) -> str:
    """What the machine can boot from."""
    return "hyperdisk-balanced" if machine.startswith(HYPERDISK_ONLY) else "pd-balanced"
