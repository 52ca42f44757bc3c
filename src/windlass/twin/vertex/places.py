"""Where a resource of Vertex AI is: a region of the project, and how it is named there.

Must not know what is there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud

HOST = re.compile(r"([a-z]+-[a-z]+\d+)-aiplatform\.|aiplatform\.([a-z]+-[a-z]+\d+)\.rep\.")
GLOBAL_HOST = "aiplatform.googleapis.com"
GLOBAL_REGION = "us-central1"
"""The region that the host without a region serves."""


class Place(NamedTuple):
    """A region."""

    number: str
    """Of the project: Vertex AI names resources by it."""
    region: str

    @property
    def path(self) -> str:
        """As resources are named after it."""
        return f"projects/{self.number}/locations/{self.region}"

    def name(self, collection: str, resource_id: str) -> str:
        """A resource's full name, which is its key too."""
        return f"{self.path}/{collection}/{resource_id}"


def place(call: Call, regions: frozenset[str]) -> Place:
    """The place that a call's path names. The host must serve it."""
    words = (call.params.get("parent") or call.params.get("name") or "").split("/")
    region = words[3] if len(words) > 3 else ""
    found = HOST.match(call.request.host)
    served = found[1] or found[2] if found else ""
    if call.request.host == GLOBAL_HOST:
        served = GLOBAL_REGION
    if region not in regions or (served and region != served):
        raise _elsewhere(served or GLOBAL_REGION)
    return Place(call.cloud.settings.project_number, region)


def resource(call: Call, regions: frozenset[str]) -> str:
    """The full name of the resource that a call is about, with the project's number."""
    rest = call.params["name"].split("/", 4)[4]
    return f"{place(call, regions).path}/{rest}"


def canonical(cloud: Cloud, name: str) -> str:
    """A full name, with the project's number where it has its id."""
    settings = cloud.settings
    return name.replace(f"projects/{settings.project}/", f"projects/{settings.project_number}/", 1)


def last(name: str) -> str:
    """The id at the end of a name."""
    return name.rpartition("/")[2]


def region_of(name: str) -> str:
    """The region in a name."""
    return name.split("/")[3]


def _elsewhere(served: str) -> Refusal:
    message = (
        f"The provided location ID doesn't match the endpoint. The valid location ID is {served}. "
        "For additional details on supported endpoints, see "
        "https://cloud.google.com/vertex-ai/docs/reference/rest#service-endpoint"
    )
    return Refusal(400, message)
