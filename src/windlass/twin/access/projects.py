"""Resource Manager: the twin's one project and its policy, and the billing account it is paid from.

Must not make projects: a twin has one, named in its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import ANYBODY, Call, Route, locked
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.access.policies import Policies
    from windlass.twin.cloud import Cloud

CREATED = "2026-01-05T09:00:00.000Z"


class Projects:
    """Resource Manager v1 and v3, and Cloud Billing as far as projects need it."""

    def __init__(self, cloud: Cloud, *, policies: Policies) -> None:
        self._cloud = cloud
        self._policies = policies

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        routes = locked(
            {
                "cloudresourcemanager.projects.get": self.get,
                "cloudresourcemanager.projects.getIamPolicy": self.get_policy,
                "cloudresourcemanager.projects.setIamPolicy": self.set_policy,
                "cloudresourcemanager.projects.testIamPermissions": self.test_permissions,
                "cloudbilling.billingAccounts.list": self.accounts,
                "cloudbilling.billingAccounts.get": self.account,
                "cloudbilling.projects.getBillingInfo": self.billing_info,
            }
        )
        for name in ("list", "search"):
            routes[f"cloudresourcemanager.projects.{name}"] = Route(
                self.list_all, permission=ANYBODY
            )
        return routes

    def get(self, call: Call) -> dict[str, Any]:
        """The project, or 403: Google does not say whether a strange one exists."""
        return self._project(self._checked(call), version=call.method.version)

    def list_all(self, call: Call) -> dict[str, Any]:
        """The one that there is, for those who may see it."""
        place = f"projects/{self._cloud.settings.project}"
        if not self._policies.allows(call.principal, [place], "resourcemanager.projects.get"):
            return {}
        project = self._project(self._cloud.settings.project, version=call.method.version)
        return {"projects": [project]}

    def get_policy(self, call: Call) -> dict[str, Any]:
        """Who may do what."""
        return self._policies.get(f"projects/{self._checked(call)}")

    def set_policy(self, call: Call) -> dict[str, Any]:
        """Replace it."""
        return self._policies.set(f"projects/{self._checked(call)}", call.body.get("policy", {}))

    def test_permissions(self, call: Call) -> dict[str, Any]:
        """Which of these the caller has."""
        place = f"projects/{self._checked(call)}"
        wanted = call.body.get("permissions", [])
        allowed = self._policies.allowed(call.principal, [place], wanted)
        return {"permissions": allowed} if allowed else {}

    def accounts(self, call: Call) -> dict[str, Any]:
        """The one billing account."""
        return {"billingAccounts": [self._account()]}

    def account(self, call: Call) -> dict[str, Any]:
        """The one billing account."""
        return self._account()

    def billing_info(self, call: Call) -> dict[str, Any]:
        """Which account pays."""
        settings = self._cloud.settings
        return {
            "name": f"projects/{settings.project}/billingInfo",
            "projectId": settings.project,
            "billingAccountName": f"billingAccounts/{settings.billing_account}",
            "billingEnabled": True,
        }

    def _account(self) -> dict[str, Any]:
        name = f"billingAccounts/{self._cloud.settings.billing_account}"
        return {"name": name, "open": True, "displayName": "Twin Billing Account"}

    def _checked(self, call: Call) -> str:
        settings = self._cloud.settings
        if call.project not in (settings.project, settings.project_number):
            message = (
                f"The caller does not have permission to access projects instance "
                f"[{call.project}] (or it may not exist)."
            )
            raise Refusal(403, message)
        return settings.project

    def _project(self, project: str, *, version: str) -> dict[str, Any]:
        settings = self._cloud.settings
        if version == "v1":
            return {
                "projectId": project,
                "projectNumber": settings.project_number,
                "name": project,
                "lifecycleState": "ACTIVE",
                "createTime": CREATED,
                "parent": {"type": "organization", "id": settings.organization},
            }
        return {
            "name": f"projects/{settings.project_number}",
            "projectId": project,
            "displayName": project,
            "state": "ACTIVE",
            "createTime": CREATED,
            "updateTime": CREATED,
            "parent": f"organizations/{settings.organization}",
            "etag": 'W/"twin"',
        }
