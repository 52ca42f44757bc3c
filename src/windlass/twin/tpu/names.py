"""Names of Cloud TPU's resources, and the words in which it refuses.

Must not know what exists: it reads and writes names and messages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud

ID = re.compile(r"[a-z](?:[-_a-z0-9]{0,61}[a-z0-9])?")
ANYWHERE = "-"
"""A location that stands for all of them, in lists."""
DENIED_NODE = (
    "Your request to provision TPU Node has been denied. Please migrate to TPU VM Architecture or "
    "contact Cloud TPU team to gain TPU Node access. "
    "https://cloud.google.com/tpu/docs/system-architecture-tpu-vm#from-tpu-node-to-tpu-vm"
)
"""What v1 says today to whoever wants a node of the first architecture."""


class Place(NamedTuple):
    """A zone of a project."""

    project: str
    zone: str

    @property
    def path(self) -> str:
        """`projects/p/locations/us-central2-b`."""
        return f"projects/{self.project}/locations/{self.zone}"

    def name(self, collection: str, id_: str) -> str:
        """A resource's name."""
        return f"{self.path}/{collection}/{id_}"

    def prefix(self, collection: str) -> str:
        """What the names of a collection begin with; of all zones for `-`."""
        if self.zone == ANYWHERE:
            return f"projects/{self.project}/locations/"
        return f"{self.path}/{collection}/"


def place_of(call: Call) -> Place:
    """The place that a call's path names, with the project by its id."""
    words = (call.params.get("name") or call.params["parent"]).split("/")
    settings = call.cloud.settings
    if words[1] not in (settings.project, settings.project_number):
        raise Refusal(403, f"Permission denied on resource project {words[1]}.")
    return Place(settings.project, words[3] if len(words) > 3 else ANYWHERE)


def name_of(call: Call) -> str:
    """The resource that a call's path names, with the project by its id."""
    _, _, _, _, collection, id_ = call.params["name"].split("/")
    return place_of(call).name(collection, id_)


def place_of_name(name: str) -> Place:
    """Where a resource is."""
    words = name.split("/")
    return Place(words[1], words[3])


def last(name: str) -> str:
    """The id at the end of a name."""
    return name.rpartition("/")[2]


def eid(cloud: Cloud) -> str:
    """The number of an error, as Cloud TPU ends its messages."""
    return f"[EID: 0x{int(cloud.new_id()):x}]"


def _resource_info(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ResourceInfo", "resourceName": name}


def not_found(name: str) -> Refusal:
    """There is no such resource."""
    return Refusal(404, f"Resource '{name}' was not found", details=[_resource_info(name)])


def already_exists(name: str) -> Refusal:
    """There is one of that name."""
    return Refusal(409, f"Resource '{name}' already exists", details=[_resource_info(name)])


def no_such_location(zone: str) -> Refusal:
    """Google does not say whether a place exists."""
    return Refusal(403, f"Permission denied on 'locations/{zone}' (or it may not exist).")


def bad_request(cloud: Cloud, what: str) -> Refusal:
    """The ask makes no sense there."""
    return Refusal(400, f"Cloud TPU received a bad request. {what} {eid(cloud)}")


def invalid(cloud: Cloud, field: str, value: str) -> Refusal:
    """A field has a value that it cannot have."""
    message = f'Cloud TPU received an invalid argument. The field "{field}" cannot be "{value}".'
    return Refusal(400, f"{message} {eid(cloud)}")


def not_now(message: str) -> Refusal:
    """The resource is in a state in which that cannot be done."""
    return Refusal(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")


def check_id(cloud: Cloud, field: str, id_: str) -> None:
    """Refuse an id that is none."""
    if not ID.fullmatch(id_):
        raise invalid(cloud, field, id_)
