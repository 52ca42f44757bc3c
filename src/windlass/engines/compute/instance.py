"""The body of an ask for a gang's machines: everything about them that Compute Engine must know.

Must not ask anything of Google. Pure: equal claims give equal bodies.
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.disks import disks
from windlass.engines.compute.images import DRIVER_ON_REQUEST
from windlass.engines.compute.options import ComputeOptions
from windlass.engines.labels import CLAIM_LABEL, NODES_KEY, labels
from windlass.engines.lifetime import lifetime
from windlass.engines.networks import data_nics, network_url, subnetwork_of, subnetwork_url
from windlass.errors import EngineRejected

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
LONGEST_RUN_S = 120 * 86_400
"""Compute Engine's own limit for maxRunDuration."""
SHORTEST_RUN_S = 60
FLEX_RUN_S = (600, 7 * 86_400)
"""Its limits for flex-start."""
MODELS = {
    Buy.ON_DEMAND: "STANDARD",
    Buy.SPOT: "SPOT",
    Buy.FLEX_START: "FLEX_START",
    Buy.CALENDAR: "RESERVATION_BOUND",
}
RESERVATION_KEY = "compute.googleapis.com/reservation-name"


def properties(
    claim: ClaimRequest,
    offer: Offer,
    options: ComputeOptions,
    *,
    image: str,
    script: str,
) -> dict[str, Any]:
    """What all instances of the gang have in common."""
    own = labels(claim)
    body: dict[str, Any] = {
        "machineType": offer.machine.name,
        "description": f"windlass run {claim.run}, claim {claim.id}",
        "labels": own,
        "metadata": {"items": metadata(claim, image=image, script=script)},
        "disks": disks(offer, options, image=image, labels=own),
        "networkInterfaces": interfaces(claim, offer, options),
        "scheduling": scheduling(claim, offer),
        "serviceAccounts": [{"email": options.service_account, "scopes": [CLOUD_PLATFORM]}],
        "shieldedInstanceConfig": {
            # Drivers of most GPU images are not signed with a key that the firmware knows.
            "enableSecureBoot": offer.machine.chips == 0,
            "enableVtpm": True,
            "enableIntegrityMonitoring": True,
        },
    }
    taken = affinity(claim, offer)
    if taken:
        body["reservationAffinity"] = taken
    if offer.machine.chips and offer.machine.family == "n1" and offer.chip is not None:
        body["guestAccelerators"] = [
            {
                "acceleratorType": offer.chip.google_name,
                "acceleratorCount": offer.machine.chips,
            }
        ]
    return body


def metadata(claim: ClaimRequest, *, image: str, script: str) -> list[dict[str, str]]:
    """What the machine is told. Everybody who may look at it can read this."""
    items = {
        "startup-script": script,
        CLAIM_LABEL: claim.id,
        NODES_KEY: str(claim.nodes),
        "enable-oslogin": "TRUE",
        "block-project-ssh-keys": "TRUE",
    }
    if image.startswith(DRIVER_ON_REQUEST):
        items["install-nvidia-driver"] = "True"
    return [{"key": key, "value": value} for key, value in items.items()]


def affinity(claim: ClaimRequest, offer: Offer) -> dict[str, Any]:
    """Which reservation the machines take: the one that the spec names. On demand any that is open
    to all may serve, which is paid for already; Spot and flex-start machines take none."""
    reservation = claim.buy.partition("/")[2]
    if reservation:
        return {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": RESERVATION_KEY,
            "values": [reservation],
        }
    if offer.buy is Buy.CALENDAR:
        raise EngineRejected(
            f"{offer.label} as {offer.buy.value} is rented through its reservation",
            remedy="Book it, and name it in `where.buy`: `reservation/NAME`.",
        )
    return {} if offer.buy is Buy.ON_DEMAND else {"consumeReservationType": "NO_RESERVATION"}


def scheduling(claim: ClaimRequest, offer: Offer) -> dict[str, Any]:
    """How the machines run, and the deadman: Compute Engine deletes them itself when their time
    is over, whatever has become of us."""
    return {
        "provisioningModel": _model(claim, offer),
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": str(_run_seconds(claim, offer))},
        # Only the controller restarts: a machine that comes back alone is of no use to a gang.
        "automaticRestart": False,
        "onHostMaintenance": "TERMINATE",
    }


def _model(claim: ClaimRequest, offer: Offer) -> str:
    """Types that Google does not sell on demand are reserved for as long as the reservation is,
    and bound to it."""
    is_bound = "/" in claim.buy and Buy.ON_DEMAND not in offer.machine.supports
    return MODELS[Buy.CALENDAR if is_bound else offer.buy]


def interfaces(claim: ClaimRequest, offer: Offer, options: ComputeOptions) -> list[dict[str, Any]]:
    """The host's NIC, then those over which GPUs of different machines talk. None has an external
    address unless the user asks for it, and then only the host's."""
    primary: dict[str, Any] = {"network": network_url(options.network), "nicType": "GVNIC"}
    # A network of ours has a subnetwork in each of its regions, and none by itself.
    ours = subnetwork_of(options.network, offer.region)
    subnetwork = options.subnetwork or (ours if options.network == options.data_prefix else "")
    if subnetwork:
        primary["subnetwork"] = subnetwork_url(subnetwork, offer.region)
    if options.external_address:
        primary["accessConfigs"] = [{"type": "ONE_TO_ONE_NAT", "name": "external-nat"}]
    if not has_gpudirect(claim, offer, options):
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


def has_gpudirect(claim: ClaimRequest, offer: Offer, options: ComputeOptions) -> bool:
    """Whether GPUs of different machines talk past their hosts. GPUs of one machine need no
    network."""
    return options.gpudirect and claim.nodes > 1 and offer.machine.gpu_direct is not None


def _run_seconds(claim: ClaimRequest, offer: Offer) -> int:
    """How long Compute Engine lets them run, which has limits of its own."""
    is_flexible = offer.buy is Buy.FLEX_START
    low, high = FLEX_RUN_S if is_flexible else (SHORTEST_RUN_S, LONGEST_RUN_S)
    return min(lifetime(claim, shortest_s=low).lasts_s, high)
