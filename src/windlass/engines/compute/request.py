"""An ask for a gang of instances, complete: what `windlass render` prints and `submit` sends.

Must not ask anything of Google. Pure: equal claims give equal requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.engines.base import ClaimRequest
from windlass.engines.bootstrap import Manner, node_order, startup_script
from windlass.engines.compute.images import image_for
from windlass.engines.compute.instance import bulk_body, properties
from windlass.engines.compute.naming import instance_name
from windlass.engines.compute.options import options_of
from windlass.engines.labels import request_id
from windlass.errors import EngineRejected

# A machine that is not needed deletes itself, so that a gang which has ended costs nothing even
# when no controller looks. Where its account may not, it turns itself off, and is deleted at its
# expiry.
LEAVE = """\
cat > leave.py <<'WINDLASS'
import json, os, urllib.request
def metadata(path):
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    url = "http://%s/computeMetadata/v1/%s" % (host, path)
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=20).read().decode()
token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
url = "https://compute.googleapis.com/compute/v1/projects/%s/zones/%s/instances/%s" % (
    metadata("project/project-id"), metadata("instance/zone").rpartition("/")[2],
    metadata("instance/name"))
request = urllib.request.Request(url, method="DELETE", headers={"Authorization": "Bearer " + token})
urllib.request.urlopen(request, timeout=60)
WINDLASS
python3 leave.py
poweroff
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeRequest:
    """One bulk insert."""

    claim: str
    folder: str
    attempt: int
    zone: str
    request_id: str
    names: tuple[str, ...]
    body: Mapping[str, Any]


def render(
    claim: ClaimRequest, *, catalog: Catalog, defaults: Mapping[str, Any], agent_url: str
) -> ComputeRequest:
    """The request for a claim. Its deadman counts from the claim's own times, never from a
    clock: a request that is rendered again must be the same."""
    offer = offer_of(claim, catalog)
    options = options_of(claim.options, defaults=defaults)
    order = node_order(
        folder=claim.folder, attempt=claim.attempt, claim=claim.id, node_from="instance/name"
    )
    shared = properties(
        claim,
        offer,
        options,
        image=options.image or image_for(catalog, offer),
        script=startup_script(order, agent_url=agent_url, manner=Manner(leave=LEAVE)),
    )
    names = tuple(instance_name(claim.id, node) for node in range(claim.nodes))
    return ComputeRequest(
        claim=claim.id,
        folder=claim.folder,
        attempt=claim.attempt,
        zone=offer.zone,
        request_id=request_id(claim.id, claim.folder),
        names=names,
        body=bulk_body(list(names), shared),
    )


def offer_of(claim: ClaimRequest, catalog: Catalog) -> Offer:
    """What the claim wants to rent."""
    offer = catalog.offer(claim.offer) if claim.offer else None
    if offer is None or offer.slice is not None:
        raise EngineRejected(
            f"{claim.id} names no machine type to rent ({claim.offer or 'nothing'})",
            remedy="Plan the run again: `windlass plan FILE` lists what can be rented.",
        )
    return offer
