from __future__ import annotations

from typing import Any

from vms import PROJECT, REGION, ZONE, Google
from windlass.twin.market import Rule

GROUPS = f"{ZONE}/instanceGroupManagers"
MIG = f"{GROUPS}/mig"
SPOT = {"model": "SPOT", "scheduling": {"instanceTerminationAction": "DELETE"}}


def _made(size: int = 3, **template: Any) -> Google:
    google = Google()
    google.template(**template)
    google.group(size=size)
    return google


def _names(google: Google) -> list[str]:
    return [one["name"] for one in google.members()]


def _preempt(google: Google, name: str) -> None:
    google.good("POST", f"{ZONE}/instances/{name}/simulateMaintenanceEvent")
    google.pass_time(30)


def test_group_has_as_many_as_it_is_to_have() -> None:
    google = _made()
    assert len(_names(google)) == 3
    for size in (5, 2, 0):
        google.good("POST", f"{MIG}/resize?size={size}")
        assert len(_names(google)) == size
        assert google.get(MIG)["targetSize"] == size
    assert google.twin.fleet.counts() == (0, 0)


def test_group_says_whether_it_is_stable() -> None:
    google = _made()
    shown = google.get(MIG)
    assert shown["status"]["isStable"] is True
    assert shown["currentActions"]["none"] == 3
    google.limit_room(3)
    google.good("POST", f"{MIG}/resize?size=5")
    shown = google.get(MIG)
    assert shown["status"]["isStable"] is False
    assert shown["currentActions"]["creating"] == 2


def test_member_knows_its_group_and_its_template() -> None:
    google = _made(size=1)
    (name,) = _names(google)
    items = {one["key"]: one["value"] for one in google.vm(name)["metadata"]["items"]}
    assert items["created-by"].endswith("/zones/us-central1-a/instanceGroupManagers/mig")
    assert items["instance-template"].endswith("/global/instanceTemplates/tmpl")
    (reference,) = google.get(f"{ZONE}/instances/{name}/referrers")["items"]
    assert reference["referrer"].endswith("/instanceGroupManagers/mig")


def test_preempted_member_is_made_anew_under_its_name() -> None:
    for scheduling in ({"instanceTerminationAction": "DELETE"}, {}):
        google = _made(model="SPOT", scheduling=scheduling)
        names = _names(google)
        before = google.vm(names[0])["id"]
        _preempt(google, names[0])
        assert _names(google) == names
        after = google.vm(names[0])
        assert (after["status"], after["id"] != before) == ("RUNNING", True)


def test_member_that_a_user_deletes_or_stops_is_made_anew() -> None:
    google = _made()
    name = _names(google)[0]
    for method, path in (
        ("DELETE", f"{ZONE}/instances/{name}"),
        ("POST", f"{ZONE}/instances/{name}/stop"),
    ):
        google.good(method, path)
        assert google.vm(name)["status"] == "RUNNING"
        assert len(_names(google)) == 3


def test_member_whose_host_is_needed_starts_again_as_itself() -> None:
    google = _made(size=1, machine_type="g2-standard-4")
    (name,) = _names(google)
    before = google.vm(name)["id"]
    google.good("POST", f"{ZONE}/instances/{name}/simulateMaintenanceEvent")
    google.good("POST", f"{ZONE}/instances/{name}/reset")
    assert (google.vm(name)["id"], google.vm(name)["status"]) == (before, "RUNNING")


def test_group_waits_for_room_and_says_what_is_in_the_way() -> None:
    google = _made(**SPOT)
    names = _names(google)
    rule = google.limit_room(2)
    google.pass_time(30)
    rows = {one["name"]: one for one in google.members()}
    (lost,) = [name for name in names if "lastAttempt" in rows[name]]
    code = rows[lost]["lastAttempt"]["errors"]["errors"][0]["code"]
    assert code.startswith("ZONE_RESOURCE_POOL_EXHAUSTED")
    errors = google.get(f"{MIG}/listErrors")["items"]
    assert errors[0]["instanceActionDetails"]["action"] == "CREATING"
    google.pass_time(600)
    assert google.refused("GET", f"{ZONE}/instances/{lost}")[0] == 404
    google.twin.market.remove(rule)
    google.pass_time(30)
    assert google.vm(lost)["status"] == "RUNNING"


def test_chosen_members_leave_for_good_or_run_on_alone() -> None:
    google = _made()
    first, second, third = _names(google)
    google.good("POST", f"{MIG}/deleteInstances", {"instances": [f"zones/z/instances/{first}"]})
    google.good("POST", f"{MIG}/abandonInstances", {"instances": [f"zones/z/instances/{second}"]})
    assert (_names(google), google.get(MIG)["targetSize"]) == ([third], 1)
    assert google.refused("GET", f"{ZONE}/instances/{first}")[0] == 404
    assert google.vm(second)["status"] == "RUNNING"
    google.good("DELETE", f"{ZONE}/instances/{second}")
    assert google.refused("GET", f"{ZONE}/instances/{second}")[0] == 404
    assert google.refused("POST", f"{MIG}/deleteInstances", {"instances": ["none"]})[0] == 400


def test_new_template_reaches_members_when_it_is_to() -> None:
    google = _made()
    google.template("newer", machine_type="e2-medium")
    newer = {"instanceTemplate": "global/instanceTemplates/newer"}
    google.good("PATCH", MIG, newer)
    types = {google.vm(name)["machineType"].rpartition("/")[2] for name in _names(google)}
    assert types == {"e2-small"}
    assert google.get(MIG)["status"]["versionTarget"]["isReached"] is False
    google.good("POST", f"{MIG}/applyUpdatesToInstances", {"allInstances": True})
    assert google.get(MIG)["status"]["versionTarget"]["isReached"] is True
    older = {"instanceTemplate": "global/instanceTemplates/tmpl"}
    google.good("PATCH", MIG, {**older, "updatePolicy": {"type": "PROACTIVE"}})
    types = {google.vm(name)["machineType"].rpartition("/")[2] for name in _names(google)}
    assert types == {"e2-small"}


def test_version_of_a_new_name_replaces_or_restarts_all_members() -> None:
    google = _made()
    template = "global/instanceTemplates/tmpl"
    before = [one["id"] for one in google.members()]
    policy = {"type": "PROACTIVE", "minimalAction": "REPLACE"}
    version = {"instanceTemplate": template, "name": "again"}
    google.good("PATCH", MIG, {"versions": [version], "updatePolicy": policy})
    replaced = [one["id"] for one in google.members()]
    assert not set(before) & set(replaced)
    policy["minimalAction"] = "RESTART"
    version["name"] = "once more"
    google.good("PATCH", MIG, {"versions": [version], "updatePolicy": policy})
    assert [one["id"] for one in google.members()] == replaced
    assert {machine.starts for machine in google.twin.fleet.all()} == {2}


def test_group_goes_with_its_instances() -> None:
    google = _made()
    google.good("DELETE", MIG)
    assert google.refused("GET", MIG)[0] == 404
    assert google.twin.fleet.counts() == (0, 0)


def test_group_of_a_template_that_is_not_is_refused_and_leaves_nothing() -> None:
    google = Google()
    body = {"name": "mig", "instanceTemplate": "global/instanceTemplates/none", "targetSize": 1}
    assert google.refused("POST", GROUPS, body)[0] == 404
    assert "items" not in google.get(GROUPS)
    assert google.refused("POST", GROUPS, {"name": "mig", "targetSize": 1})[0] == 400
    assert google.refused("POST", GROUPS, {**body, "targetSize": 10**6})[0] == 400


def test_regional_group_spreads_over_zones_and_moves_where_there_is_room() -> None:
    google = Google()
    google.template()
    body = {"name": "wide", "instanceTemplate": "global/instanceTemplates/tmpl", "targetSize": 6}
    google.good("POST", f"{REGION}/instanceGroupManagers", body)
    items = google.get(f"{PROJECT}/aggregated/instances")["items"]
    assert [len(one["instances"]) for one in items.values()] == [2, 2, 2]
    google.limit_room(0, zone="us-central1-a")
    lost = items["zones/us-central1-a"]["instances"][0]["name"]
    google.good("DELETE", f"{ZONE}/instances/{lost}")
    google.pass_time(30)
    items = google.get(f"{PROJECT}/aggregated/instances")["items"]
    assert sum(len(one["instances"]) for one in items.values()) == 6


def test_group_that_does_not_repair_shrinks() -> None:
    google = Google()
    google.template(**SPOT)
    policy = {"defaultActionOnFailure": "DO_NOTHING"}
    google.group(size=2, instanceLifecyclePolicy=policy)
    _preempt(google, _names(google)[0])
    assert (len(_names(google)), google.get(MIG)["targetSize"]) == (1, 1)


def test_a_thousand_members_churn_and_none_is_lost() -> None:
    google = Google()
    google.twin.quotas.set_limit("*", "INSTANCES", 10**6)
    google.twin.quotas.set_limit("*", "E2_CPUS", 10**6)
    google.twin.market.add(Rule(model="SPOT", hazard_per_h=6.0))
    google.template(**SPOT)
    google.group(size=1000)
    made = google.twin.compute.instances.made
    google.pass_time(600)
    assert google.twin.compute.instances.made - made > 400
    assert google.twin.fleet.counts() == (0, 1000)
    assert google.twin.quotas.usage("us-central1", "INSTANCES") == 1000
    assert google.get(f"{ZONE}/instanceGroups/mig")["size"] == 1000
