"""What Google's refusals mean to us."""

from __future__ import annotations

import json

import pytest

from windlass.errors import (
    EngineRejected,
    EngineTransient,
    OutOfStock,
    PlaceUnfit,
    QuotaExceeded,
)
from windlass.google.refusals import as_error, operation_error, parsed

CASES = {
    "calls come too fast": (
        429,
        "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'.",
        "rateLimitExceeded",
        EngineTransient,
    ),
    "machines of a training over quota": (
        429,
        "The following quota metrics exceed quota limits: aiplatform.googleapis.com/x",
        "rateLimitExceeded",
        QuotaExceeded,
    ),
    "slices over quota": (
        429,
        "Quota limit 'TPUV5' has been exceeded. Limit: 0 in zone us-central1-a.",
        "rateLimitExceeded",
        QuotaExceeded,
    ),
    "no slices": (
        429,
        'There is no more capacity in the zone "us-central2-b"',
        "",
        OutOfStock,
    ),
    "a body that makes no sense": (400, "Invalid value", "badRequest", EngineRejected),
    "no subnetwork in the region": (
        400,
        "Invalid value for field 'resource.networkInterfaces[0].subnetwork': 'https://x/projects/p/"
        "regions/us-east1/subnetworks/windlass-us-east1'. The referenced subnetwork resource "
        "cannot be found.",
        "invalid",
        PlaceUnfit,
    ),
    "no such machine in the zone": (
        404,
        "The resource 'projects/p/zones/us-x1-a/machineTypes/a9-highgpu-8g' was not found",
        "notFound",
        PlaceUnfit,
    ),
    "where the organization allows nothing": (
        412,
        "Location us-east1 violates constraint constraints/gcp.resourceLocations on the resource.",
        "conditionNotMet",
        PlaceUnfit,
    ),
    "no network at all": (
        400,
        "Invalid value for field 'resource.networkInterfaces[0].network': 'https://x/projects/p/"
        "global/networks/nope'. The referenced network resource cannot be found.",
        "invalid",
        EngineRejected,
    ),
    "what is in use": (
        400,
        "The subnetwork resource 'projects/p/regions/us-east1/subnetworks/windlass-us-east1' is "
        "already being used by 'projects/p/zones/us-east1-b/instances/vm-1'",
        "resourceInUseByAnotherResource",
        EngineRejected,
    ),
    "no such image": (
        404,
        "The resource 'projects/debian-cloud/global/images/nope' was not found",
        "notFound",
        EngineRejected,
    ),
    "somebody on the way": (502, "Bad gateway", "", EngineTransient),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_becomes_the_error_that_says_whether_to_try_again(case):
    code, message, reason, expected = CASES[case]
    error = {"code": code, "message": message, "errors": [{"reason": reason}]}
    content = json.dumps({"error": error}).encode()
    assert type(as_error(parsed(code, content), what="asking")) is expected


TOO_FEW = {
    "code": "VM_MIN_COUNT_NOT_REACHED",
    "message": "Requested minimum count of 2 VMs could not be created.",
}
OPERATIONS = {
    "no room, told beside the count": (
        [TOO_FEW, {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "The zone has no room."}],
        OutOfStock,
        "The zone has no room",
    ),
    "a quota, told beside the count": (
        [TOO_FEW, {"code": "QUOTA_EXCEEDED", "message": "Quota 'CPUS' exceeded."}],
        QuotaExceeded,
        "CPUS",
    ),
    "nothing but the count": ([TOO_FEW], OutOfStock, "minimum count of 2"),
    "nothing at all": ([], EngineRejected, "asking"),
}


@pytest.mark.parametrize(("errors", "kind", "said"), OPERATIONS.values(), ids=OPERATIONS.keys())
def test_an_operation_ends_in_the_error_that_tells_why(errors, kind, said):
    error = operation_error(errors, what="asking")
    assert type(error) is kind
    assert said in error.message
