"""What an engine needs of a Google Cloud project: APIs, permissions, and things that must exist.

Must not ask anything of Google: preflight does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from windlass.catalog.model import Offer
    from windlass.catalog.query import Catalog

COMPUTE_API = "compute.googleapis.com"
STORAGE_API = "storage.googleapis.com"
SECRETS_API = "secretmanager.googleapis.com"
BUCKETS = {
    "storage.objects.create": "roles/storage.objectUser",
    "storage.objects.delete": "roles/storage.objectUser",
    "storage.objects.get": "roles/storage.objectUser",
    "storage.objects.list": "roles/storage.objectUser",
}
ACCOUNTS = {"iam.serviceAccounts.actAs": "roles/iam.serviceAccountUser"}


class Probe(NamedTuple):
    """Something that must exist for an offer to be of use."""

    what: str
    url: str
    fix: str
    """What to do when it does not."""


class NodeRole(NamedTuple):
    """A role that the machines' own account needs."""

    role: str
    why: str
    condition: Mapping[str, str] = {}


def _nothing(catalog: Catalog, offer: Offer, project: str) -> Sequence[Probe]:
    return ()


def _all_sold(offer: Offer) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one engine needs."""

    apis: tuple[str, ...]
    permissions: Mapping[str, str] = field(hash=False)
    """Each with a role that has it."""
    probes: Callable[[Catalog, Offer, str], Sequence[Probe]] = _nothing
    unsold: Callable[[Offer], str] = _all_sold
    """Why an offer of the catalog cannot be had of it; empty when it can."""
    is_networked: bool = True
    """Whether its machines are in a network of the project's."""
    has_gpudirect: bool = False
    """Whether gangs of some machine types need networks for their GPUs."""
    node_roles: tuple[NodeRole, ...] = ()
    """What its machines do at Google besides reading and writing their run folder."""
    usual_account: str = "{number}-compute@developer.gserviceaccount.com"
    """Whom its machines run as when nobody is named; the number is the project's."""
    takes_slices: bool = False
    """Whether it rents TPU slices, and no VMs."""
