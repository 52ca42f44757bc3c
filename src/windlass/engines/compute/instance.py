"""The body of an ask for a gang's machines: everything about them that Compute Engine must know.

Must not ask anything of Google. Pure: equal claims give equal bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.options import ComputeOptions
from windlass.engines.labels import CLAIM_LABEL, labels
from windlass.engines.networks import data_nics, network_url, subnetwork_of, subnetwork_url

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
LONGEST_RUN_S = 120 * 86_400
"""Compute Engine's own limit for maxRunDuration."""
SHORTEST_RUN_S = 60
DEFAULT_TTL_S = 7 * 86_400
"""Machines of a run without `ttl` end after so long, whoever has forgotten them."""
MODELS = {
    Buy.ON_DEMAND: "STANDARD",
    Buy.SPOT: "SPOT",
    Buy.FLEX_START: "FLEX_START",
    Buy.CALENDAR: "RESERVATION_BOUND",
}


def properties(
    claim: ClaimRequest,
    offer: Offer,
    options: ComputeOptions,
    *,
    image: str,
    script: str,
) -> dict[str, Any]:
    """What all instances of the gang have in common."""
    seconds = _run_seconds(claim)
    body: dict[str, Any] = {
        "machineType": offer.machine.name,
        "description": f"windlass run {claim.run}, claim {claim.id}",
        "labels": labels(claim),
        "metadata": {
            "items": [
                {"key": "startup-script", "value": script},
                {"key": CLAIM_LABEL, "value": claim.id},
                {"key": "enable-oslogin", "value": "TRUE"},
                {"key": "block-project-ssh-keys", "value": "TRUE"},
            ]
        },
        "disks": disks(offer, options, image=image),
        "networkInterfaces": interfaces(offer, options),
        "scheduling": scheduling(offer, seconds),
        "serviceAccounts": [{"email": options.service_account, "scopes": [CLOUD_PLATFORM]}],
        "shieldedInstanceConfig": {
            "enableSecureBoot": offer.machine.chips == 0,
            "enableVtpm": True,
            "enableIntegrityMonitoring": True,
        },
    }
    if offer.machine.chips and offer.machine.family == "n1" and offer.chip is not None:
        body["guestAccelerators"] = [
            {
                "acceleratorType": offer.chip.google_name,
                "acceleratorCount": offer.machine.chips,
            }
        ]
    reservation = claim.buy.partition("/")[2]
    if reservation:
        body["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [reservation],
        }
    elif offer.buy is not Buy.ON_DEMAND:
        body["reservationAffinity"] = {"consumeReservationType": "NO_RESERVATION"}
    if options.placement_policy:
        body["resourcePolicies"] = [options.placement_policy]
    return body


def scheduling(offer: Offer, seconds: int) -> dict[str, Any]:
    """How the machines run, and the deadman: Compute Engine deletes them itself when their time
    is over, whatever has become of us."""
    return {
        "provisioningModel": MODELS[offer.buy],
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": str(seconds)},
        # Only the controller restarts: a machine that comes back alone is of no use to a gang.
        "automaticRestart": False,
        "onHostMaintenance": "TERMINATE",
    }


def disks(offer: Offer, options: ComputeOptions, *, image: str) -> list[dict[str, Any]]:
    """The boot disk, and scratch disks where the machine type does not bring its own."""
    boot: dict[str, Any] = {
        "boot": True,
        "autoDelete": True,
        "initializeParams": {
            "sourceImage": image,
            "diskSizeGb": str(options.disk_gb),
            "diskType": options.disk_type(offer.machine.family),
        },
    }
    if options.kms_key:
        boot["diskEncryptionKey"] = {"kmsKeyName": options.kms_key}
    scratch = {
        "type": "SCRATCH",
        "autoDelete": True,
        "interface": "NVME",
        "initializeParams": {"diskType": "local-ssd"},
    }
    return [boot, *({**scratch} for _ in range(options.local_ssds))]


def interfaces(offer: Offer, options: ComputeOptions) -> list[dict[str, Any]]:
    """The host's NIC, then those over which GPUs of different machines talk. None has an external
    address unless the user asks for it."""
    primary: dict[str, Any] = {"network": network_url(options.network), "nicType": "GVNIC"}
    # A network of ours has a subnetwork in each of its regions, and none by itself.
    ours = subnetwork_of(options.network, offer.region)
    subnetwork = options.subnetwork or (ours if options.network == options.data_prefix else "")
    if subnetwork:
        primary["subnetwork"] = subnetwork_url(subnetwork, offer.region)
    if options.external_address:
        primary["accessConfigs"] = [{"type": "ONE_TO_ONE_NAT", "name": "external-nat"}]
    if not options.gpudirect:
        return [primary]
    nics = data_nics(
        offer.machine, prefix=options.data_prefix, region=offer.region, zone=offer.zone
    )
    data = [
        {
            "network": network_url(nic.network),
            "subnetwork": subnetwork_url(nic.subnetwork, offer.region),
            "nicType": nic.nic_type,
        }
        for nic in nics
    ]
    return [primary, *data]


def _run_seconds(claim: ClaimRequest) -> int:
    """From when the claim was made until nothing of it may be left."""
    until = claim.expires_at if claim.expires_at is not None else claim.made_at + DEFAULT_TTL_S
    return int(min(max(until - claim.made_at, SHORTEST_RUN_S), LONGEST_RUN_S))


def bulk_body(names: list[str], shared: Mapping[str, Any]) -> dict[str, Any]:
    """An ask for all machines of a gang or none."""
    return {
        "count": str(len(names)),
        "minCount": str(len(names)),
        "perInstanceProperties": {name: {"name": name} for name in names},
        "instanceProperties": dict(shared),
    }
