"""Whether somebody may start a machine as a service account: who may not act as it must not.

Otherwise anybody could take on any identity, by way of a machine.

Must not know services: it looks for accounts wherever a body names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Answer, Call, Handler, Route
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.access.accounts import ServiceAccounts
    from windlass.twin.access.policies import Policies

ACT_AS = "iam.serviceAccounts.actAs"
METHODS = frozenset(
    {
        "compute.instances.insert",
        "compute.instances.update",
        "compute.instances.bulkInsert",
        "compute.instances.setServiceAccount",
        "compute.regionInstances.bulkInsert",
        "compute.instanceTemplates.insert",
        "compute.regionInstanceTemplates.insert",
        "tpu.projects.locations.nodes.create",
        "tpu.projects.locations.queuedResources.create",
        "aiplatform.projects.locations.customJobs.create",
        "aiplatform.projects.locations.trainingPipelines.create",
    }
)
FIELDS = frozenset({"serviceAccount", "serviceAccounts"})
DEFAULT = "default"


class Acting:
    """Stands before the methods that start something as an account."""

    def __init__(self, *, accounts: ServiceAccounts, policies: Policies) -> None:
        self._accounts = accounts
        self._policies = policies

    def guarded(self, routes: Mapping[str, Route]) -> dict[str, Route]:
        """The same routes; those that name accounts look first."""
        return {
            method: route._replace(handler=self._looking(route.handler))
            if method in METHODS
            else route
            for method, route in routes.items()
        }

    def _looking(self, handler: Handler) -> Handler:
        def look(call: Call) -> Answer:
            for email in named(call.body):
                self._check(call, email)
            return handler(call)

        return look

    def _check(self, call: Call, email: str) -> None:
        settings = call.cloud.settings
        account = settings.default_service_account if email == DEFAULT else email
        if not self._accounts.exists(account):
            message = f"The resource '{account}' of type 'serviceAccount' was not found."
            raise Refusal(400, message, reason="invalid")
        project = f"projects/{settings.project}"
        places = [project, f"{project}/serviceAccounts/{account}"]
        if not self._policies.allows(call.principal, places, ACT_AS):
            message = (
                f"The user does not have access to service account '{account}'. User: "
                f"'{call.principal}'. Ask a project owner to grant you the "
                "iam.serviceAccountUser role on the service account"
            )
            raise Refusal(400, message, reason="serviceAccountAccessDenied")


def named(body: Any) -> Iterator[str]:
    """The accounts that a body names, however deep; `setServiceAccount` names one at the top."""
    if isinstance(body, list):
        for one in body:
            yield from named(one)
    elif isinstance(body, dict):
        if "email" in body and "scopes" in body:
            yield from _emails(body)
        for field, value in body.items():
            if field in FIELDS:
                yield from _emails(value)
            else:
                yield from named(value)


def _emails(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _emails(one)
    elif isinstance(value, dict) and value.get("email"):
        yield str(value["email"])
