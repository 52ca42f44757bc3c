from __future__ import annotations

from typing import Any

import pytest

from googleapis import Service
from windlass.twin.settings import GOOGLE_LIKE

GLOBAL = "projects/twin-project/locations/global"
COMPUTE = f"{GLOBAL}/services/compute.googleapis.com/quotaInfos"
TPU = f"{GLOBAL}/services/tpu.googleapis.com/quotaInfos"
WISHES = f"{GLOBAL}/quotaPreferences"
L4 = "NVIDIA-L4-GPUS-per-project-region"
FAMILIES = "GPUS-PER-GPU-FAMILY-per-project-region"


class Google(Service):
    host = "cloudquotas.googleapis.com"

    def values(self, quota: str, **dimensions: str) -> list[tuple[str, list[str]]]:
        """Values and places of the entries with these dimensions."""
        infos = self.done("GET", f"{COMPUTE}/{quota}")["dimensionsInfos"]
        return [
            (one["details"]["value"], one["applicableLocations"])
            for one in infos
            if one.get("dimensions", {}) == dimensions
        ]


def wish(value: int, *, quota: str = L4, **dimensions: str) -> dict[str, Any]:
    return {
        "service": "compute.googleapis.com",
        "quotaId": quota,
        "dimensions": dimensions,
        "quotaConfig": {"preferredValue": str(value)},
        "contactEmail": "a@b.c",
    }


def test_quota_is_told_with_its_metric_dimensions_and_limit() -> None:
    google = Google()
    info = google.done("GET", f"{COMPUTE}/{L4}")
    assert info["metric"] == "compute.googleapis.com/nvidia_l4_gpus"
    assert (info["dimensions"], info["containerType"]) == (["region"], "PROJECT")
    ((value, places),) = google.values(L4)
    assert value == "128"
    assert "us-central1" in places


def test_place_with_a_limit_of_its_own_is_told_apart() -> None:
    google = Google()
    google.twin.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 7)
    assert google.values(L4, region="us-central1") == [("7", ["us-central1"])]
    ((_, others),) = google.values(L4)
    assert "us-central1" not in others


def test_newer_chips_have_a_limit_for_each_family() -> None:
    google = Google()
    google.twin.quotas.set_limit("us-east5", "GPUS_PER_GPU_FAMILY:NVIDIA_H100", 16)
    h100 = {"gpu_family": "NVIDIA_H100"}
    assert google.values(FAMILIES, **h100, region="us-east5") == [("16", ["us-east5"])]
    assert google.values(FAMILIES, **h100)[0][0] == "128"
    assert google.values(FAMILIES, gpu_family="NVIDIA_H200")[0][0] == "128"


def test_tpus_are_limited_by_zone() -> None:
    google = Google()
    infos = google.done("GET", TPU)["quotaInfos"]
    by_id = {one["quotaId"]: one for one in infos}
    v4 = by_id["TPUV4sPodPerProjectPerZoneForTPUAPI"]
    assert v4["dimensions"] == ["zone"]
    assert v4["dimensionsInfos"][0]["applicableLocations"] == ["us-central2-b"]


def test_list_is_paged_and_other_services_have_none() -> None:
    google = Google()
    first = google.done("GET", COMPUTE, pageSize=10)
    rest = google.done("GET", COMPUTE, pageSize=500, pageToken=first["nextPageToken"])
    ids = [one["quotaId"] for one in first["quotaInfos"] + rest["quotaInfos"]]
    assert (len(first["quotaInfos"]), ids) == (10, sorted(ids))
    assert google.done("GET", f"{GLOBAL}/services/run.googleapis.com/quotaInfos") == {}


def test_wish_is_granted_and_holds() -> None:
    google = Google()
    made = google.done("POST", WISHES, wish(500, region="us-east4"), quotaPreferenceId="more")
    assert (made["reconciling"], made["quotaConfig"]["grantedValue"]) == (False, "500")
    assert google.twin.quotas.limit("us-east4", "NVIDIA_L4_GPUS") == 500
    assert google.values(L4, region="us-east4") == [("500", ["us-east4"])]
    assert google.done("GET", f"{WISHES}/more") == made
    assert google.done("GET", WISHES)["quotaPreferences"] == [made]


def test_wish_without_a_place_is_for_all_of_them() -> None:
    google = Google()
    google.done("POST", WISHES, wish(300))
    assert google.twin.quotas.limit("us-west1", "NVIDIA_L4_GPUS") == 300


def test_grant_takes_as_long_as_an_operation() -> None:
    google = Google(delays=GOOGLE_LIKE)
    made = google.done("POST", WISHES, wish(500, region="us-east4"), quotaPreferenceId="more")
    assert (made["reconciling"], made["quotaConfig"]["grantedValue"]) == (True, "128")
    listed = google.done("GET", WISHES, filter="reconciling:true")
    assert len(listed["quotaPreferences"]) == 1
    google.pass_time(GOOGLE_LIKE.operation + 1)
    assert google.done("GET", f"{WISHES}/more")["quotaConfig"]["grantedValue"] == "500"
    assert google.done("GET", WISHES, filter="reconciling:true") == {}


def test_wish_for_much_less_must_be_meant() -> None:
    google = Google()
    google.done("POST", WISHES, wish(500, region="us-east4"), quotaPreferenceId="w")
    less = wish(5, region="us-east4")
    code, status, message = google.no("PATCH", f"{WISHES}/w", less)
    assert (code, status) == (400, "FAILED_PRECONDITION")
    assert "QUOTA_DECREASE_PERCENTAGE_TOO_HIGH" in message
    meant = ["QUOTA_DECREASE_BELOW_USAGE", "QUOTA_DECREASE_PERCENTAGE_TOO_HIGH"]
    changed = google.done("PATCH", f"{WISHES}/w", less, ignoreSafetyChecks=meant)
    assert changed["quotaConfig"]["grantedValue"] == "5"


def test_limit_below_usage_must_be_meant() -> None:
    google = Google()
    google.insert_vm("one", machine_type="g2-standard-4")
    high = "QUOTA_DECREASE_PERCENTAGE_TOO_HIGH"
    body = wish(0, region="us-central1")
    _, _, message = google.no("POST", WISHES, body, ignoreSafetyChecks=high)
    assert "QUOTA_DECREASE_BELOW_USAGE" in message


def test_validation_alone_changes_nothing() -> None:
    google = Google()
    google.done("POST", WISHES, wish(500, region="us-east4"), quotaPreferenceId="w")
    google.done("PATCH", f"{WISHES}/w", wish(600, region="us-east4"), validateOnly="true")
    assert google.twin.quotas.limit("us-east4", "NVIDIA_L4_GPUS") == 500


def test_missing_wish_is_made_where_that_is_allowed() -> None:
    google = Google()
    body = wish(500, region="us-east4")
    assert google.no("PATCH", f"{WISHES}/w", body)[0] == 404
    made = google.done("PATCH", f"{WISHES}/w", body, allowMissing="true")
    assert made["name"].endswith("/quotaPreferences/w")


REFUSALS: dict[str, tuple[dict[str, Any], int]] = {
    "no such quota": (wish(5, quota="NONE-per-project"), 404),
    "no such region": (wish(500, region="mars-west1"), 400),
    "no such dimension": (wish(500, zone="us-east4-a"), 400),
    "family is missing": (wish(500, quota=FAMILIES, region="us-east4"), 400),
    "no value": ({**wish(5), "quotaConfig": {}}, 400),
    "made before": (wish(700, region="us-east1"), 409),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_wish_is_refused(case: str) -> None:
    google = Google()
    google.done("POST", WISHES, wish(600, region="us-east1"))
    body, code = REFUSALS[case]
    assert google.no("POST", WISHES, body)[0] == code


@pytest.mark.parametrize("version", ["v1beta", "v1alpha"])
def test_other_versions_answer_the_same(version: str) -> None:
    google = Google()
    google.prefix = f"/{version}"
    assert google.done("GET", f"{COMPUTE}/{L4}")["quotaId"] == L4


def test_strange_project_is_denied() -> None:
    path = "projects/other/locations/global/services/compute.googleapis.com/quotaInfos"
    assert Google().no("GET", path)[0] == 403
