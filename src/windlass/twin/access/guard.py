"""Whether a call may be made at all: its project is there, its API is on, its caller may.

Must not look into bodies: what a call wants to do is the service's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.access.roles import permission_for
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
            raise self._disabled(call, f"{service}.googleapis.com")
        project = call.project
        known = {call.cloud.settings.project, call.cloud.settings.project_number}
        if service == "compute" and project not in known:
            # Images of Google's own projects are read by everybody.
            return
        needed = route.permission or permission_for(call.method.id)
        place = f"projects/{call.cloud.settings.project}"
        own = route.resources(call) if route.resources is not None else ()
        if not self._policies.allows(call.principal, [place, *own], needed):
            raise self._denied(call, needed, own[0] if own else place)

    def _disabled(self, call: Call, service: str) -> Refusal:
        number = call.cloud.settings.project_number
        title = self._apis.title(service)
        console = "https://console.developers.google.com/apis/api"
        activation = f"{console}/{service}/overview?project={number}"
        message = (
            f"{title} has not been used in project {number} before or it is disabled. Enable it by "
            f"visiting {activation} then retry. If you enabled this API recently, wait a few "
            "minutes for the action to propagate to our systems and retry."
        )
        details = [
            error_info(
                "SERVICE_DISABLED",
                "googleapis.com",
                consumer=f"projects/{number}",
                service=service,
                serviceTitle=title,
                activationUrl=activation,
                containerInfo=number,
            ),
            {
                "@type": "type.googleapis.com/google.rpc.LocalizedMessage",
                "locale": "en-US",
                "message": message,
            },
            {
                "@type": "type.googleapis.com/google.rpc.Help",
                "links": [
                    {"description": "Google developers console API activation", "url": activation}
                ],
            },
        ]
        return Refusal(403, message, reason="accessNotConfigured", details=details)

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


def _compute_resource(call: Call, place: str) -> str:
    """What the call is about: the resource of its path, with the name of what it makes."""
    path = call.request.path.partition("/projects/")[2].split("/")[1:]
    name = call.body.get("name", "")
    return "/".join([place, *path, *([name] if name else [])])
