"""Methods, matches and where requests lead, as values.

Must not find or check anything: router.py and check.py do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from windlass.twin.discovery.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What may stand in a method's path or query."""

    location: str
    type: str
    format: str = ""
    required: bool = False
    repeated: bool = False
    enum: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method, by Google's own id (`compute.instances.insert`)."""

    id: str
    api: str
    version: str
    http_method: str
    path: str
    flat_path: str
    """The path with each segment of a resource name by itself."""
    parameters: Mapping[str, Parameter]
    request: str | None
    """The schema of the body; None where there is none."""
    response: str | None
    supports_media_upload: bool
    supports_media_download: bool


class Match(NamedTuple):
    """The method that a request asks for."""

    method: Method
    params: dict[str, str]
    """Of the path, percent-decoded; one that is a resource name has slashes in it."""
    part: str = ""
    """`simple` or `resumable` for an upload's own path, `download` for a download's; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a request leads."""

    service: str
    """The API's name (`compute`); empty where no host, prefix or shape tells."""
    path: str
    """As the service's own host sees it: without a prefix of the twin's."""
    described: Api | None = None
    """The API's document; None for a service or version without one."""
    match: Match | None = None

    @property
    def api(self) -> Api:
        """The API's document; LookupError where there is none. A match always has one."""
        if self.described is None:
            raise LookupError(f"no discovery document of {self.service} for {self.path}")
        return self.described

    @property
    def nothing(self) -> bool:
        """Whether Google has no such method."""
        return self.match is None

    @property
    def batch(self) -> bool:
        """Whether this is the API's batch endpoint."""
        return self.described is not None and self.path.strip("/") == self.described.batch_path
