from __future__ import annotations

import pytest

from windlass.twin.access.permissions import permission_for

MIGS = "compute.instanceGroupManagers"
# As Google's reference of each method names it ("Authorization requires ...").
NEEDED = {
    "compute.instances.insert": "compute.instances.create",
    "compute.instances.bulkInsert": "compute.instances.create",
    "compute.regionInstances.bulkInsert": "compute.instances.create",
    "compute.instances.get": "compute.instances.get",
    "compute.instances.list": "compute.instances.list",
    "compute.instances.aggregatedList": "compute.instances.list",
    "compute.instances.delete": "compute.instances.delete",
    "compute.instances.stop": "compute.instances.stop",
    "compute.instances.start": "compute.instances.start",
    "compute.instances.reset": "compute.instances.reset",
    "compute.instances.setLabels": "compute.instances.setLabels",
    "compute.instances.setMetadata": "compute.instances.setMetadata",
    "compute.instances.getSerialPortOutput": "compute.instances.getSerialPortOutput",
    "compute.instances.getGuestAttributes": "compute.instances.getGuestAttributes",
    "compute.disks.insert": "compute.disks.create",
    "compute.regionDisks.insert": "compute.disks.create",
    "compute.disks.createSnapshot": "compute.disks.createSnapshot",
    "compute.zoneOperations.get": "compute.zoneOperations.get",
    "compute.zoneOperations.wait": "compute.zoneOperations.get",
    "compute.images.getFromFamily": "compute.images.getFromFamily",
    "compute.imageFamilyViews.get": "compute.images.getFromFamily",
    "compute.projects.get": "compute.projects.get",
    "compute.projects.setCommonInstanceMetadata": "compute.projects.setCommonInstanceMetadata",
    "compute.networks.insert": "compute.networks.create",
    "compute.firewalls.patch": "compute.firewalls.update",
    "compute.routers.getRouterStatus": "compute.routers.get",
    "compute.reservations.resize": "compute.reservations.resize",
    f"{MIGS}.insert": f"{MIGS}.create",
    f"{MIGS}.resize": f"{MIGS}.update",
    f"{MIGS}.deleteInstances": f"{MIGS}.update",
    "compute.regionInstanceGroupManagers.resize": f"{MIGS}.update",
    "compute.instanceGroupManagerResizeRequests.insert": f"{MIGS}.update",
    "compute.instanceGroupManagerResizeRequests.get": f"{MIGS}.get",
    "compute.regionInstanceTemplates.insert": "compute.instanceTemplates.create",
    "tpu.projects.locations.nodes.create": "tpu.nodes.create",
    "aiplatform.projects.locations.customJobs.create": "aiplatform.customJobs.create",
    "aiplatform.projects.locations.customJobs.cancel": "aiplatform.customJobs.cancel",
    "serviceusage.services.enable": "serviceusage.services.enable",
    "serviceusage.services.batchEnable": "serviceusage.services.enable",
    "cloudresourcemanager.projects.get": "resourcemanager.projects.get",
    "cloudresourcemanager.projects.setIamPolicy": "resourcemanager.projects.setIamPolicy",
    "cloudbilling.projects.getBillingInfo": "resourcemanager.projects.get",
    "cloudbilling.billingAccounts.list": "billing.accounts.list",
    "billingbudgets.billingAccounts.budgets.create": "billing.budgets.create",
    "iam.projects.serviceAccounts.create": "iam.serviceAccounts.create",
    "iam.projects.serviceAccounts.patch": "iam.serviceAccounts.update",
    "iam.projects.serviceAccounts.keys.create": "iam.serviceAccountKeys.create",
    "iamcredentials.projects.serviceAccounts.generateAccessToken": (
        "iam.serviceAccounts.getAccessToken"
    ),
    "logging.entries.write": "logging.logEntries.create",
    "logging.entries.list": "logging.logEntries.list",
    "container.projects.locations.clusters.create": "container.clusters.create",
    "container.projects.locations.clusters.nodePools.create": "container.clusters.update",
    "secretmanager.projects.secrets.versions.access": "secretmanager.versions.access",
    "monitoring.projects.timeSeries.list": "monitoring.timeSeries.list",
    "cloudquotas.projects.locations.services.quotaInfos.list": "cloudquotas.quotas.get",
    "cloudquotas.projects.locations.quotaPreferences.create": "cloudquotas.quotas.update",
}


@pytest.mark.parametrize("method", NEEDED)
def test_method_needs_the_permission_that_google_documents(method: str) -> None:
    assert permission_for(method) == NEEDED[method]
