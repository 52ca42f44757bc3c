"""Which permission a method needs, in Google's words.

Must not know who has it: roles and policies do.
"""

from __future__ import annotations

# What a method does to a resource, where Google's permission has another word for it.
VERBS = {
    "insert": "create",
    "bulkInsert": "create",
    "aggregatedList": "list",
    "patch": "update",
    "wait": "get",
    "batchEnable": "enable",
    "batchGet": "get",
}
# Collections whose permissions are those of another.
RESOURCES = {
    "compute.regionAutoscalers": "compute.autoscalers",
    "compute.regionDisks": "compute.disks",
    "compute.regionInstanceGroupManagers": "compute.instanceGroupManagers",
    "compute.regionInstanceGroups": "compute.instanceGroups",
    "compute.regionInstanceTemplates": "compute.instanceTemplates",
    "compute.regionInstances": "compute.instances",
    "iam.keys": "iam.serviceAccountKeys",
    "iamcredentials.serviceAccounts": "iam.serviceAccounts",
    "cloudresourcemanager.projects": "resourcemanager.projects",
    "cloudbilling.billingAccounts": "billing.accounts",
    "billingbudgets.budgets": "billing.budgets",
    "cloudquotas.quotaInfos": "cloudquotas.quotas",
    "cloudquotas.quotaPreferences": "cloudquotas.quotas",
    "logging.entries": "logging.logEntries",
    "tpu.acceleratorTypes": "tpu.acceleratortypes",
    "tpu.runtimeVersions": "tpu.runtimeversions",
}
# Whatever is done to these counts as a change of, or a look at, something larger.
PARTS = {
    "compute.instanceGroupManagerResizeRequests": "compute.instanceGroupManagers",
    "compute.regionInstanceGroupManagerResizeRequests": "compute.instanceGroupManagers",
    "container.nodePools": "container.clusters",
}
# Verbs of collections that know only a few.
FEW = {
    "compute.instanceGroupManagers": frozenset({"create", "delete", "get", "list", "update"}),
    "compute.instanceGroups": frozenset({"create", "delete", "get", "list", "update"}),
    "compute.routers": frozenset({"create", "delete", "get", "list", "update"}),
    "cloudquotas.quotas": frozenset({"get", "update"}),
}
SPECIAL = {
    "compute.imageFamilyViews.get": "compute.images.getFromFamily",
    "cloudbilling.projects.getBillingInfo": "resourcemanager.projects.get",
    "iam.serviceAccounts.generateAccessToken": "iam.serviceAccounts.getAccessToken",
    "logging.logEntries.write": "logging.logEntries.create",
}
LOOKS = ("get", "list")


def permission_for(method_id: str) -> str:
    """The permission that a method needs: `compute.instances.insert` is
    `compute.instances.create`."""
    words = method_id.split(".")
    collection = f"{words[0]}.{words[-2]}" if len(words) > 2 else f"{words[0]}.{words[0]}"
    verb = VERBS.get(words[-1], words[-1])
    if method_id in SPECIAL:
        return SPECIAL[method_id]
    if collection in PARTS:
        return f"{PARTS[collection]}.{'get' if verb.startswith(LOOKS) else 'update'}"
    resource = RESOURCES.get(collection, collection)
    if resource in FEW and verb not in FEW[resource] and not verb.endswith("IamPolicy"):
        verb = "get" if verb.startswith(LOOKS) else "update"
    return SPECIAL.get(f"{resource}.{verb}", f"{resource}.{verb}")
