"""What this engine needs of a project.

Must not ask anything of Google.
"""

from __future__ import annotations

from collections.abc import Sequence

from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.engines.needs import ACCOUNTS, BUCKETS, STORAGE_API, Needs, NodeRole, Probe
from windlass.google.tpu import BASE, STABLE, place

ADMIN = "roles/tpu.admin"


def probes(catalog: Catalog, offer: Offer, project: str) -> Sequence[Probe]:
    """Slice and runtime version."""
    if offer.slice is None:
        return ()
    zone = f"{BASE}/{STABLE}/{place(project, offer.zone)}"
    kind, version = offer.slice.accelerator_type, offer.slice.runtime_version
    return (
        Probe(
            f"slice {kind} in {offer.zone}",
            f"{zone}/acceleratorTypes/{kind}",
            f"`gcloud compute tpus accelerator-types list --zone {offer.zone}` shows what is.",
        ),
        Probe(
            f"runtime version {version}",
            f"{zone}/runtimeVersions/{version}",
            "Name another with `engine: {tpu: {runtime_version: …}}`; "
            f"`gcloud compute tpus versions list --zone {offer.zone}` shows them.",
        ),
    )


NEEDS = Needs(
    apis=("tpu.googleapis.com", STORAGE_API),
    # Queued resources are asked for with the permissions of the nodes that they become.
    permissions={
        "tpu.nodes.create": ADMIN,
        "tpu.nodes.delete": ADMIN,
        "tpu.nodes.get": ADMIN,
        "tpu.nodes.list": ADMIN,
        **ACCOUNTS,
        **BUCKETS,
    },
    probes=probes,
    node_roles=(NodeRole(ADMIN, "slices give themselves back"),),
    takes_slices=True,
)
