from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from clusters import CLUSTER, POOLS, REGION, ZONE, Clusters
from windlass.twin.journal import SqliteJournal
from windlass.twin.settings import GOOGLE_LIKE

LEGACY = "projects/twin-project/zones/us-central1-a"


def test_cluster_runs_at_once_where_nothing_waits() -> None:
    google = Clusters()
    operation = google.cluster(count=2)
    assert (operation["status"], operation["operationType"]) == ("DONE", "CREATE_CLUSTER")
    cluster = google.shown()
    assert (cluster["status"], cluster["currentNodeCount"]) == ("RUNNING", 2)
    assert (cluster["zone"], cluster["locations"]) == ("us-central1-a", ["us-central1-a"])
    assert cluster["currentMasterVersion"] == cluster["currentNodeVersion"]


def test_credentials_name_an_endpoint_and_a_certificate_that_can_be_read() -> None:
    google = Clusters()
    google.cluster()
    cluster = google.shown()
    pem = base64.b64decode(cluster["masterAuth"]["clusterCaCertificate"])
    assert x509.load_pem_x509_certificate(pem).subject
    assert cluster["endpoint"].startswith("127.0.0.1:")


def test_cluster_is_provisioning_for_as_long_as_google_takes() -> None:
    google = Clusters(delays=GOOGLE_LIKE)
    operation = google.cluster(count=3)
    assert (operation["status"], google.shown()["status"]) == ("RUNNING", "PROVISIONING")
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    path = f"{ZONE}/operations/{operation['name']}"
    done = google.done("GET", path)
    assert (done["status"], "endTime" in done) == ("DONE", True)
    assert (google.shown()["status"], google.shown()["currentNodeCount"]) == ("RUNNING", 3)


def test_regional_cluster_has_nodes_in_three_zones() -> None:
    google = Clusters()
    google.cluster(count=1, where=REGION)
    cluster = google.done("GET", f"{REGION}/clusters/c")
    assert (cluster["currentNodeCount"], len(cluster["locations"])) == (3, 3)
    assert len({node.wanted.zone for node in google.nodes()}) == 3


def test_count_without_pools_makes_the_default_pool() -> None:
    google = Clusters()
    body = {
        "cluster": {
            "name": "c",
            "initialNodeCount": 2,
            "nodeConfig": {"machineType": "n1-standard-4"},
        }
    }
    google.done("POST", f"{ZONE}/clusters", body)
    (pool,) = google.shown()["nodePools"]
    assert (pool["name"], pool["config"]["machineType"]) == ("default-pool", "n1-standard-4")


def test_autopilot_needs_no_pools() -> None:
    google = Clusters()
    body = {"cluster": {"name": "c", "autopilot": {"enabled": True}}}
    google.done("POST", f"{REGION}/clusters", body)
    assert google.done("GET", f"{REGION}/clusters/c")["autopilot"] == {"enabled": True}


def test_older_paths_lead_to_the_same_cluster() -> None:
    google = Clusters()
    pool = {"name": "default-pool", "initialNodeCount": 1}
    google.done("POST", f"{LEGACY}/clusters", {"cluster": {"name": "c", "nodePools": [pool]}})
    assert google.done("GET", f"{LEGACY}/clusters/c") == google.shown()
    google.done("POST", f"{LEGACY}/clusters/c/nodePools/default-pool/setSize", {"nodeCount": 2})
    assert google.shown()["currentNodeCount"] == 2
    (first, _) = google.done("GET", f"{LEGACY}/operations")["operations"]
    assert google.done("GET", f"{LEGACY}/operations/{first['name']}")["status"] == "DONE"
    assert google.done("GET", f"{LEGACY}/serverconfig")["validNodeVersions"]


def test_list_of_all_places_has_every_cluster() -> None:
    google = Clusters()
    google.cluster()
    google.cluster(where=REGION)
    found = google.done("GET", "projects/twin-project/locations/-/clusters")["clusters"]
    assert {one["location"] for one in found} == {"us-central1", "us-central1-a"}
    assert len(google.done("GET", f"{ZONE}/clusters")["clusters"]) == 1


def test_deleted_cluster_takes_its_nodes_along() -> None:
    google = Clusters(delays=GOOGLE_LIKE)
    google.cluster(count=2)
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    google.done("DELETE", CLUSTER)
    assert (google.shown()["status"], google.nodes()) == ("STOPPING", [])
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    assert google.no("GET", CLUSTER)[0] == 404
    google.cluster()


def test_cluster_does_one_thing_at_a_time() -> None:
    google = Clusters(delays=GOOGLE_LIKE)
    operation = google.cluster()
    code, status, message = google.no("DELETE", CLUSTER)
    assert (code, status) == (400, "FAILED_PRECONDITION")
    assert operation["name"] in message
    google.pass_time(GOOGLE_LIKE.cluster + 1)
    google.done("DELETE", CLUSTER)


UPDATES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "release channel": (
        {"desiredReleaseChannel": {"channel": "RAPID"}},
        "releaseChannel",
        {"channel": "RAPID"},
    ),
    "version": ({"desiredMasterVersion": "1.33"}, "currentMasterVersion", "1.33.5-gke.1080000"),
    "add-ons": (
        {"desiredAddonsConfig": {"rayOperatorConfig": {"enabled": True}}},
        "addonsConfig",
        {"rayOperatorConfig": {"enabled": True}},
    ),
    "autoprovisioning": (
        {"desiredClusterAutoscaling": {"enableNodeAutoprovisioning": True}},
        "autoscaling",
        {"enableNodeAutoprovisioning": True},
    ),
}


@pytest.mark.parametrize("case", UPDATES)
def test_update_is_put_where_it_belongs(case: str) -> None:
    update, field, value = UPDATES[case]
    google = Clusters()
    google.cluster()
    operation = google.done("PUT", CLUSTER, {"update": update})
    assert (operation["operationType"], google.shown()[field]) == ("UPDATE_CLUSTER", value)


def test_update_may_be_about_a_pool() -> None:
    google = Clusters()
    google.cluster()
    google.pool("other")
    scaling = {"enabled": True, "minNodeCount": 1, "maxNodeCount": 5}
    update = {"desiredNodePoolId": "other", "desiredNodePoolAutoscaling": scaling}
    google.done("PUT", CLUSTER, {"update": update})
    assert google.shown("other")["autoscaling"] == scaling
    assert "autoscaling" not in google.shown("default-pool")


def test_zones_of_all_pools_can_be_changed() -> None:
    google = Clusters()
    google.cluster(count=2)
    zones = ["us-central1-a", "us-central1-b"]
    google.done("POST", f"{CLUSTER}:setLocations", {"locations": zones})
    assert google.shown()["currentNodeCount"] == 4
    google.done("PUT", CLUSTER, {"update": {"desiredLocations": ["us-central1-b"]}})
    assert {node.wanted.zone for node in google.nodes()} == {"us-central1-b"}


def test_update_that_is_not_modelled_is_refused_not_ignored() -> None:
    google = Clusters()
    google.cluster()
    body = {"update": {"desiredStackType": "IPV4"}}
    assert google.no("PUT", CLUSTER, body)[0] == 501


def test_labels_are_set_by_whoever_saw_the_last_ones() -> None:
    google = Clusters()
    google.cluster(resourceLabels={"a": "b"})
    path = f"{CLUSTER}:setResourceLabels"
    assert google.no("POST", path, {"resourceLabels": {}, "labelFingerprint": "00"})[0] == 400
    seen = google.shown()["labelFingerprint"]
    google.done("POST", path, {"resourceLabels": {"c": "d"}, "labelFingerprint": seen})
    assert google.shown()["resourceLabels"] == {"c": "d"}


REFUSALS: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "no place": ("projects/twin-project/locations/mars-1", {"name": "x"}, 403, "locations/mars-1"),
    "bad name": (ZONE, {"name": "Upper", "initialNodeCount": 1}, 400, "lowercase"),
    "twice": (ZONE, {"name": "c", "initialNodeCount": 1}, 409, "Already exists"),
    "no nodes": (ZONE, {"name": "x"}, 400, "initial_node_count"),
    "no such version": (
        ZONE,
        {"name": "x", "initialNodeCount": 1, "initialClusterVersion": "1.2"},
        400,
        '"1.2" is invalid',
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_cluster_is_refused(case: str) -> None:
    google = Clusters()
    google.cluster()
    where, cluster, code, words = REFUSALS[case]
    found, _, message = google.no("POST", f"{where}/clusters", {"cluster": cluster})
    assert found == code
    assert words in message


def test_missing_cluster_is_named() -> None:
    message = Clusters().no("GET", f"{ZONE}/clusters/nope")[2]
    assert message == "Not found: projects/twin-project/zones/us-central1-a/clusters/nope."
    assert Clusters().no("GET", POOLS)[0] == 404


def test_every_answer_of_every_modelled_method_is_one_of_googles() -> None:
    google = Clusters()
    google.cluster()
    google.done("GET", f"{ZONE}/serverConfig")
    google.done("GET", f"{ZONE}/clusters")
    google.done("GET", POOLS)
    operation = google.done("GET", f"{ZONE}/operations")["operations"][0]["name"]
    google.done("POST", f"{ZONE}/operations/{operation}:cancel", {})
    google.prefix = "/v1beta1"
    assert google.shown()["name"] == "c"
    assert google.done("GET", POOLS)["nodePools"]


def test_clusters_outlive_the_process(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "state.db")
    before = Clusters(journal=journal, delays=GOOGLE_LIKE)
    before.cluster(count=2)
    journal.close()
    again = SqliteJournal(tmp_path / "state.db")
    after = Clusters(journal=again, delays=GOOGLE_LIKE, clock=before.clock)
    assert after.no("DELETE", CLUSTER)[1] == "FAILED_PRECONDITION"
    after.pass_time(GOOGLE_LIKE.cluster + 1)
    assert (after.shown()["status"], after.shown()["currentNodeCount"]) == ("RUNNING", 2)
    again.close()


def test_clusters_need_a_role() -> None:
    google = Clusters()
    _, token = google.account("robot")
    assert google.no("GET", f"{ZONE}/clusters", token=token)[0] == 403
