from __future__ import annotations

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.fitting import fitted


def test_fields_that_a_version_lacks_are_left_out_however_deep() -> None:
    pool = {"name": "p", "config": {"spot": True, "hostMaintenancePolicy": {}}, "other": 1}
    cluster = {"name": "c", "nodePools": [pool], "tpuConfig": {"enabled": True}}
    stable = fitted(load_api("container", "v1"), "Cluster", cluster)
    assert stable == {"name": "c", "nodePools": [{"name": "p", "config": {"spot": True}}]}
    beta = fitted(load_api("container", "v1beta1"), "Cluster", cluster)
    assert beta["tpuConfig"] == {"enabled": True}
    assert beta["nodePools"][0]["config"] == pool["config"]


def test_maps_keep_their_keys() -> None:
    cluster = {"resourceLabels": {"anything": "goes"}}
    assert fitted(load_api("container", "v1"), "Cluster", cluster) == cluster
