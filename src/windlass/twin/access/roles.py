"""What each of Google's roles allows, as patterns of permissions.

Must not be complete: it has the roles that machine learning teams grant. A role that is not here
allows nothing.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

ROLES: dict[str, tuple[str, ...]] = {
    "roles/owner": ("*",),
    "roles/editor": ("*",),
    "roles/viewer": ("*.get", "*.list", "*.getIamPolicy"),
    "roles/browser": ("resourcemanager.projects.get", "resourcemanager.projects.list"),
    "roles/compute.admin": ("compute.*", "serviceusage.services.use", "serviceusage.quotas.get"),
    "roles/compute.instanceAdmin.v1": (
        "compute.instances.*",
        "compute.disks.*",
        "compute.instanceGroupManagers.*",
        "compute.instanceTemplates.*",
        "compute.*.get",
        "compute.*.list",
        "compute.*.use*",
    ),
    "roles/compute.networkAdmin": (
        "compute.networks.*",
        "compute.subnetworks.*",
        "compute.firewalls.*",
        "compute.routers.*",
        "compute.addresses.*",
        "compute.*.get",
        "compute.*.list",
    ),
    "roles/compute.viewer": ("compute.*.get", "compute.*.list"),
    "roles/tpu.admin": ("tpu.*",),
    "roles/tpu.viewer": ("tpu.*.get", "tpu.*.list"),
    "roles/aiplatform.admin": ("aiplatform.*",),
    "roles/aiplatform.user": ("aiplatform.*",),
    "roles/aiplatform.viewer": ("aiplatform.*.get", "aiplatform.*.list"),
    "roles/container.admin": ("container.*",),
    "roles/container.developer": ("container.*.get", "container.*.list", "container.pods.*"),
    "roles/storage.admin": ("storage.*",),
    "roles/storage.objectAdmin": ("storage.objects.*", "storage.multipartUploads.*"),
    "roles/storage.objectUser": ("storage.objects.*", "storage.multipartUploads.*"),
    "roles/storage.objectCreator": ("storage.objects.create", "storage.multipartUploads.*"),
    "roles/storage.objectViewer": ("storage.objects.get", "storage.objects.list"),
    "roles/logging.admin": ("logging.*",),
    "roles/logging.viewer": ("logging.*.get", "logging.*.list"),
    "roles/logging.logWriter": ("logging.logEntries.create",),
    "roles/monitoring.metricWriter": ("monitoring.timeSeries.create",),
    "roles/monitoring.viewer": ("monitoring.*.get", "monitoring.*.list"),
    "roles/secretmanager.admin": ("secretmanager.*",),
    "roles/secretmanager.secretAccessor": ("secretmanager.versions.access",),
    "roles/iam.serviceAccountAdmin": ("iam.serviceAccounts.*",),
    "roles/iam.serviceAccountUser": ("iam.serviceAccounts.actAs", "iam.serviceAccounts.get"),
    "roles/iam.serviceAccountTokenCreator": (
        "iam.serviceAccounts.getAccessToken",
        "iam.serviceAccounts.signBlob",
        "iam.serviceAccounts.signJwt",
    ),
    "roles/serviceusage.serviceUsageAdmin": ("serviceusage.*",),
    "roles/serviceusage.serviceUsageConsumer": ("serviceusage.services.use",),
    "roles/cloudquotas.viewer": ("cloudquotas.*.get", "cloudquotas.*.list"),
    "roles/cloudquotas.admin": ("cloudquotas.*",),
    "roles/billing.admin": ("billing.*",),
    "roles/resourcemanager.projectIamAdmin": ("resourcemanager.projects.*IamPolicy",),
    "roles/artifactregistry.reader": ("artifactregistry.*.get", "artifactregistry.*.list"),
}


def allows(role: str, permission: str) -> bool:
    """Whether a role has a permission."""
    if role == "roles/editor" and permission.endswith(".setIamPolicy"):
        return False
    return any(fnmatchcase(permission, pattern) for pattern in ROLES.get(role, ()))


# What a method does to a resource, where Google's permission has another word for it.
VERBS = {
    "insert": "create",
    "bulkInsert": "create",
    "aggregatedList": "list",
    "patch": "update",
    "addAccessConfig": "addAccessConfig",
    "wait": "get",
    "getSerialPortOutput": "getSerialPortOutput",
    "batchEnable": "enable",
    "batchGet": "get",
}


def permission_for(method_id: str) -> str:
    """The permission that a method needs: `compute.instances.insert` is
    `compute.instances.create`."""
    words = method_id.split(".")
    service = {"cloudresourcemanager": "resourcemanager"}.get(words[0], words[0])
    resource = words[-2] if len(words) > 2 else words[0]
    return f"{service}.{resource}.{VERBS.get(words[-1], words[-1])}"
