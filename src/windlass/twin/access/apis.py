"""Which of Google's APIs the project has turned on: Service Usage.

Must not turn any on by itself, except those that a working project has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from windlass.twin.call import Call, Route, locked
from windlass.twin.refusals import Refusal, error_info

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

TITLES = {
    "aiplatform.googleapis.com": "Vertex AI API",
    "artifactregistry.googleapis.com": "Artifact Registry API",
    "batch.googleapis.com": "Batch API",
    "billingbudgets.googleapis.com": "Cloud Billing Budget API",
    "cloudbilling.googleapis.com": "Cloud Billing API",
    "cloudquotas.googleapis.com": "Cloud Quotas API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "compute.googleapis.com": "Compute Engine API",
    "container.googleapis.com": "Kubernetes Engine API",
    "file.googleapis.com": "Cloud Filestore API",
    "hypercomputecluster.googleapis.com": "Cluster Director API",
    "iam.googleapis.com": "Identity and Access Management (IAM) API",
    "iamcredentials.googleapis.com": "IAM Service Account Credentials API",
    "iap.googleapis.com": "Cloud Identity-Aware Proxy API",
    "logging.googleapis.com": "Cloud Logging API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "oslogin.googleapis.com": "Cloud OS Login API",
    "secretmanager.googleapis.com": "Secret Manager API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
    "tpu.googleapis.com": "Cloud TPU API",
}
OFF_AT_FIRST = frozenset({"file.googleapis.com", "hypercomputecluster.googleapis.com"})
PAGE = 50
NAMES = "names"
NAME = re.compile(r"projects/[^/]+/services/(?P<service>[a-z0-9.-]+)")


class EnabledApis:
    """The services of the project, on or off."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._states = cloud.documents("apis")

    def is_enabled(self, service: str) -> bool:
        """By short name or by host."""
        name = service if "." in service else f"{service}.googleapis.com"
        state = self._states.get(name)
        return bool(state["enabled"]) if state is not None else name not in OFF_AT_FIRST

    def set(self, service: str, *, enabled: bool) -> None:
        """Turn it on or off."""
        self._states.put(service, {"enabled": enabled})

    def title(self, service: str) -> str:
        """As people know it."""
        return TITLES.get(service, service)

    def disabled(self, service: str, *, number: str) -> Refusal:
        """What a call of an API is told that is off in the project of that number."""
        title = self.title(service)
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

    def routes(self) -> dict[str, Route]:
        """Service Usage's methods."""
        return locked(
            {
                "serviceusage.services.list": self.list_all,
                "serviceusage.services.get": self.get,
                "serviceusage.services.batchGet": self.batch_get,
                "serviceusage.services.enable": self.enable,
                "serviceusage.services.disable": self.disable,
                "serviceusage.services.batchEnable": self.batch_enable,
                "serviceusage.operations.get": self.operation,
            }
        )

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those that are on, or off, or all."""
        wanted = call.query.get("filter", "")
        names = [
            name
            for name in sorted(TITLES)
            if (wanted in ("", "state:ENABLED") and self.is_enabled(name))
            or (wanted == "state:DISABLED" and not self.is_enabled(name))
        ]
        token = call.query.get("pageToken") or "0"
        if not token.isdecimal():
            raise Refusal(400, f"Invalid page token: {token}.")
        start = int(token)
        size = int(call.query.get("pageSize") or 0) or PAGE
        page: dict[str, Any] = {"services": [self._service(one) for one in names[start:][:size]]}
        if start + size < len(names):
            page["nextPageToken"] = str(start + size)
        return page

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._service(self._named(call.params["name"]))

    def batch_get(self, call: Call) -> dict[str, Any]:
        """Those that are named."""
        pairs = parse_qsl(call.request.query)
        return {"services": [self._service(self._named(one)) for key, one in pairs if key == NAMES]}

    def enable(self, call: Call) -> dict[str, Any]:
        """Turn one on."""
        name = self._named(call.params["name"])
        self.set(name, enabled=True)
        kind = "type.googleapis.com/google.api.serviceusage.v1.EnableServiceResponse"
        return _done({"@type": kind, "service": self._service(name)})

    def disable(self, call: Call) -> dict[str, Any]:
        """Turn one off."""
        name = self._named(call.params["name"])
        self.set(name, enabled=False)
        kind = "type.googleapis.com/google.api.serviceusage.v1.DisableServiceResponse"
        return _done({"@type": kind, "service": self._service(name)})

    def batch_enable(self, call: Call) -> dict[str, Any]:
        """Turn several on, or none when one does not exist."""
        names = [
            self._named(f"projects/-/services/{one}") for one in call.body.get("serviceIds", [])
        ]
        for name in names:
            self.set(name, enabled=True)
        kind = "type.googleapis.com/google.api.serviceusage.v1.BatchEnableServicesResponse"
        return _done({"@type": kind, "services": [self._service(name) for name in names]})

    def operation(self, call: Call) -> dict[str, Any]:
        """All of them are done when they are answered."""
        return {"name": call.params["name"], "done": True}

    def _named(self, resource: str) -> str:
        found = NAME.fullmatch(resource)
        name = found["service"] if found else resource
        if name not in TITLES:
            message = f"Not found or permission denied for service(s): {name}."
            raise Refusal(403, message, reason="SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED")
        return name

    def _service(self, name: str) -> dict[str, Any]:
        number = self._cloud.settings.project_number
        return {
            "name": f"projects/{number}/services/{name}",
            "parent": f"projects/{number}",
            "state": "ENABLED" if self.is_enabled(name) else "DISABLED",
            "config": {"name": name, "title": self.title(name)},
        }


def _done(response: dict[str, Any]) -> dict[str, Any]:
    return {"name": "operations/acat.twin-done", "done": True, "response": response}
