"""What the networks of a gang are called, and which a machine type needs.

Must not look anything up. Pure. Who makes networks and who attaches machines to them both ask
here, so that they cannot disagree.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.catalog.model import Machine

DEFAULT = "default"
PREFIX = "windlass"


class Nic(NamedTuple):
    """One interface of a machine besides its first."""

    network: str
    subnetwork: str
    nic_type: str


def network_url(name: str) -> str:
    """A network as Compute Engine takes it; one that is an URL already stays as it is."""
    return name if "/" in name else f"global/networks/{name}"


def subnetwork_url(name: str, region: str) -> str:
    """A subnetwork as Compute Engine takes it; one that is an URL already stays as it is."""
    return name if "/" in name else f"regions/{region}/subnetworks/{name}"


def subnetwork_of(network: str, region: str) -> str:
    """The subnetwork of a network of ours in a region."""
    return f"{network}-{region}"


def data_nics(machine: Machine, *, prefix: str, region: str, zone: str) -> list[Nic]:
    """The interfaces over which GPUs of different machines talk, in their order."""
    if machine.gpu_direct in ("tcpx", "tcpxo"):
        names = [f"{prefix}-data-{number}" for number in range(1, machine.nics or 1)]
        return [Nic(name, subnetwork_of(name, region), "GVNIC") for name in names]
    if machine.gpu_direct != "rdma":
        return []
    second = f"{prefix}-host-1"
    rdma = f"{prefix}-rdma-{zone}"
    count = (machine.nics or machine.chips + 2) - 2
    return [
        Nic(second, subnetwork_of(second, region), "GVNIC"),
        *(Nic(rdma, f"{rdma}-{number}", "MRDMA") for number in range(count)),
    ]
