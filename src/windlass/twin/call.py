"""One call of an API method: routed, its body checked, ready for the service that handles it.

Must not change anything: it is a value with a few views of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.messages import Request, Response

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.discovery.model import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a handler gets."""

    cloud: Cloud
    method: Method
    """Google's method: its id is `compute.instances.insert`."""
    params: Mapping[str, str]
    """The variables of the path."""
    query: Mapping[str, str]
    body: dict[str, Any] = field(default_factory=dict)
    """Checked against the method's schema, with enums by name."""
    request: Request
    principal: str
    """Whose call it is: an e-mail address."""

    @property
    def project(self) -> str:
        """The project that the path names."""
        for name in ("project", "projectsId", "projectId"):
            if name in self.params:
                return self.params[name]
        for value in self.params.values():
            words = value.split("/")
            if words[0] == "projects" and len(words) > 1:
                return words[1]
        return self.cloud.settings.project


Answer = dict[str, Any] | Response
Handler = Callable[[Call], Answer]


ANYBODY = "anybody"
"""In place of a permission: whoever is known may call."""


class Route(NamedTuple):
    """How a method is carried out."""

    handler: Handler
    is_locked: bool = True
    """Under the cloud's lock, which most are; those that wait or move many bytes are not."""
    permission: str = ""
    """What the caller must be allowed to do; by default the method's id names it."""
    resources: Callable[[Call], Sequence[str]] | None = None
    """Names what may allow it besides the project: a secret has a policy of its own."""


Routes = Mapping[str, Route]
"""By method id."""


def locked(handlers: Mapping[str, Handler]) -> dict[str, Route]:
    """Plain handlers as routes."""
    return {method: Route(handler) for method, handler in handlers.items()}
