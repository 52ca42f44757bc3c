"""Whether a call may be made at all: its project is there, its API is on, its caller may.

Must not look into bodies: what a call wants to do is the service's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.access.permissions import permission_for
from windlass.twin.call import ANYBODY
from windlass.twin.refusals import Refusal, error_info

if TYPE_CHECKING:
    from windlass.twin.access.apis import EnabledApis
    from windlass.twin.access.policies import Policies
    from windlass.twin.call import Call, Route

ALWAYS_ON = frozenset(
    {"serviceusage", "cloudresourcemanager", "oauth2", "cloudbilling", "billingbudgets", "iam"}
)
"""These are what one turns the others on with."""


class Access:
    """Looks at a call before its service does."""

    def __init__(self, *, apis: EnabledApis, policies: Policies) -> None:
        self._apis = apis
        self._policies = policies

    def check(self, call: Call, route: Route) -> None:
        """See door.Guard."""
        service = call.method.api
        if service not in ALWAYS_ON and not self._apis.is_enabled(service):
            number = call.cloud.settings.project_number
            raise self._apis.disabled(f"{service}.googleapis.com", number=number)
        if route.permission == ANYBODY or call.method.id.endswith(".testIamPermissions"):
            return
        needed = route.permission or permission_for(call.method.id)
        if service == "compute" and call.project not in known_projects(call):
            # Images of Google's own projects are read by everybody.
            if not needed.startswith("compute.images."):
                raise _unknown_project(call, needed)
            return
        place = f"projects/{call.cloud.settings.project}"
        own = route.resources(call) if route.resources is not None else _compute_place(call)
        if not self._policies.allows(call.principal, [place, *own], needed):
            raise self._denied(call, needed, own[0] if own else place)

    def _denied(self, call: Call, permission: str, place: str) -> Refusal:
        service = f"{call.method.api}.googleapis.com"
        resource = place
        if call.method.api == "compute":
            resource = _compute_resource(call, place)
            return Refusal(403, f"Required '{permission}' permission for '{resource}'")
        message = (
            f"Permission '{permission}' denied on resource '//{service}/{resource}' (or it "
            "may not exist)."
        )
        details = [
            error_info("IAM_PERMISSION_DENIED", service, permission=permission, resource=resource)
        ]
        return Refusal(403, message, details=details)


def known_projects(call: Call) -> frozenset[str]:
    """What the twin's project may be called."""
    settings = call.cloud.settings
    return frozenset({settings.project, settings.project_number})


def _unknown_project(call: Call, permission: str) -> Refusal:
    """Google does not say whether somebody else's project exists."""
    return Refusal(403, f"Required '{permission}' permission for 'projects/{call.project}'")


def _compute_place(call: Call) -> list[str]:
    """The resource of a path of Compute Engine's, which may have a policy of its own."""
    words = call.request.path.partition("/projects/")[2].split("/")
    count = 5 if words[1:2] in (["zones"], ["regions"]) else 4
    if call.method.api != "compute" or len(words) < count:
        return []
    return ["/".join(["projects", call.cloud.settings.project, *words[1:count]])]


def _compute_resource(call: Call, place: str) -> str:
    """What the call is about: the resource of its path, with the name of what it makes."""
    path = call.request.path.partition("/projects/")[2].split("/")[1:]
    name = call.body.get("name", "")
    return "/".join([place, *path, *([name] if name else [])])
