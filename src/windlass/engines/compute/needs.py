"""What this engine needs of a project.

Must not ask anything of Google.
"""

from __future__ import annotations

from collections.abc import Sequence

from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.engines.compute.images import image_for
from windlass.engines.compute.naming import MARK
from windlass.engines.needs import (
    ACCOUNTS,
    BUCKETS,
    COMPUTE_API,
    STORAGE_API,
    Needs,
    NodeRole,
    Probe,
)
from windlass.google.compute import BASE

INSTANCES = "roles/compute.instanceAdmin.v1"
MACHINES_OF_OURS = {
    "title": "machines of windlass",
    "expression": f'resource.name.extract("/instances/{{name}}").startsWith("{MARK}")',
}


def probes(catalog: Catalog, offer: Offer, project: str) -> Sequence[Probe]:
    """Zone, machine type and image."""
    zone = f"{BASE}/projects/{project}/zones/{offer.zone}"
    machine = offer.machine.name
    image = image_for(catalog, offer)
    return (
        Probe(
            f"zone {offer.zone}", zone, "Bring the catalog up to date: `windlass catalog update`."
        ),
        Probe(
            f"machine type {machine} in {offer.zone}",
            f"{zone}/machineTypes/{machine}",
            f"`gcloud compute machine-types list --filter=name={machine}` shows where it is.",
        ),
        Probe(
            f"image {image.rpartition('/')[2]}",
            f"{BASE}/{image}",
            "Name another with `engine: {compute: {image: …}}`; `gcloud compute images list` "
            "shows them.",
        ),
    )


NEEDS = Needs(
    apis=(COMPUTE_API, STORAGE_API),
    permissions={
        "compute.disks.create": INSTANCES,
        # Flex-start machines come through a group, which needs a template.
        "compute.instanceGroupManagers.create": INSTANCES,
        "compute.instanceGroupManagers.delete": INSTANCES,
        "compute.instanceGroupManagers.get": INSTANCES,
        "compute.instanceGroupManagers.list": INSTANCES,
        "compute.instanceGroupManagers.update": INSTANCES,
        "compute.instanceTemplates.create": INSTANCES,
        "compute.instanceTemplates.delete": INSTANCES,
        "compute.instanceTemplates.useReadOnly": INSTANCES,
        "compute.instances.create": INSTANCES,
        "compute.instances.delete": INSTANCES,
        "compute.instances.get": INSTANCES,
        "compute.instances.list": INSTANCES,
        "compute.instances.setLabels": INSTANCES,
        "compute.instances.setMetadata": INSTANCES,
        "compute.instances.setServiceAccount": INSTANCES,
        "compute.resourcePolicies.create": INSTANCES,
        "compute.resourcePolicies.delete": INSTANCES,
        "compute.resourcePolicies.use": INSTANCES,
        "compute.subnetworks.use": INSTANCES,
        "compute.zoneOperations.get": INSTANCES,
        **ACCOUNTS,
        **BUCKETS,
    },
    probes=probes,
    node_roles=(NodeRole(INSTANCES, "machines delete themselves", MACHINES_OF_OURS),),
    has_gpudirect=True,
)
