"""What each of Google's roles allows, as patterns of permissions.

Must not be complete: it has the roles that machine learning teams grant. A role that is not here
allows nothing.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

IMPERSONATION = (
    "iam.serviceAccounts.getAccessToken",
    "iam.serviceAccounts.getOpenIdToken",
    "iam.serviceAccounts.signBlob",
    "iam.serviceAccounts.signJwt",
)
"""To take on an account's identity. Not even owners may, unless they are granted it."""
PAYLOADS = "secretmanager.versions.access"
"""Of the basic roles only the owner's has it: a machine's usual account cannot read secrets."""
BASIC = frozenset({"roles/owner", "roles/editor"})
ROLES: dict[str, tuple[str, ...]] = {
    "roles/owner": ("*",),
    "roles/editor": ("*",),
    "roles/viewer": ("*.get", "*.list", "*.getIamPolicy", "*.getFromFamily"),
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
    "roles/storage.legacyBucketOwner": (
        "storage.buckets.get",
        "storage.buckets.update",
        "storage.buckets.*IamPolicy",
        "storage.objects.create",
        "storage.objects.delete",
        "storage.objects.list",
        "storage.multipartUploads.*",
    ),
    "roles/storage.legacyBucketWriter": (
        "storage.buckets.get",
        "storage.objects.create",
        "storage.objects.delete",
        "storage.objects.list",
        "storage.multipartUploads.*",
    ),
    "roles/storage.legacyBucketReader": ("storage.buckets.get", "storage.objects.list"),
    "roles/storage.legacyObjectOwner": ("storage.objects.get", "storage.objects.update"),
    "roles/storage.legacyObjectReader": ("storage.objects.get",),
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
    "roles/iam.serviceAccountAdmin": (
        "iam.serviceAccounts.create",
        "iam.serviceAccounts.delete",
        "iam.serviceAccounts.get",
        "iam.serviceAccounts.list",
        "iam.serviceAccounts.update",
        "iam.serviceAccounts.*IamPolicy",
    ),
    "roles/iam.serviceAccountKeyAdmin": ("iam.serviceAccountKeys.*", "iam.serviceAccounts.get"),
    "roles/iam.serviceAccountUser": (
        "iam.serviceAccounts.actAs",
        "iam.serviceAccounts.get",
        "iam.serviceAccounts.list",
    ),
    "roles/iam.serviceAccountTokenCreator": (
        "iam.serviceAccounts.get",
        "iam.serviceAccounts.list",
        *IMPERSONATION,
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
    if role in BASIC and permission in IMPERSONATION:
        return False
    if role == "roles/editor" and permission.endswith(".setIamPolicy"):
        return False
    if role == "roles/editor" and permission == PAYLOADS:
        return False
    return any(fnmatchcase(permission, pattern) for pattern in ROLES.get(role, ()))
