"""compute.instanceGroupManagers, for zones and regions, and the instance groups that they manage.

Must not keep groups at their size: groups.py does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler, Route, locked
from windlass.twin.compute.asks import check_name, run_seconds
from windlass.twin.compute.fingerprints import fingerprint
from windlass.twin.compute.group import Group, made_with, shown, shown_members
from windlass.twin.compute.links import last, normalised
from windlass.twin.compute.listing import Keyed, aggregated, listed, paged
from windlass.twin.compute.scopes import invalid, not_found

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.groups import Groups

MOST = 4000
"""So many instances a group may have."""


class GroupMethods:
    """The API of managed instance groups."""

    def __init__(self, base: Ground, groups: Groups) -> None:
        self._base = base
        self._groups = groups
        self._find = base.instances.find

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers: dict[str, Handler] = {
            "insert": self.insert,
            "get": self.get,
            "list": self.list_all,
            "aggregatedList": self.aggregated,
            "delete": self.delete,
            "patch": self.patch,
            "resize": self.resize,
            "setInstanceTemplate": self.set_template,
            "createInstances": self.create_instances,
            "deleteInstances": self.delete_instances,
            "abandonInstances": self.abandon_instances,
            "recreateInstances": self.recreate_instances,
            "applyUpdatesToInstances": self.apply_updates,
            "listManagedInstances": self.list_members,
            "listErrors": self.list_errors,
        }
        groups: dict[str, Handler] = {
            "get": self.get_group,
            "list": self.list_groups,
            "aggregatedList": self.aggregated_groups,
            "listInstances": self.list_instances,
        }
        routes: dict[str, Route] = {}
        for prefix, chosen in (
            ("instanceGroupManagers", handlers),
            ("regionInstanceGroupManagers", handlers),
            ("instanceGroups", groups),
            ("regionInstanceGroups", groups),
        ):
            routes |= locked({f"compute.{prefix}.{name}": one for name, one in chosen.items()})
        return routes

    def insert(self, call: Call) -> dict[str, Any]:
        """A new group."""
        repeated = self._base.operations.repeated(call)
        if repeated is not None:
            return repeated
        _check_size(call.body.get("targetSize", 0))
        scope = self._base.places.scope(call)
        return self._operation(call, self._groups.make(call, scope, call.body))

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._shown(self.named(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of one place."""
        scope = self._base.places.scope(call)
        found = ((one.key, one) for one in self._groups.under(scope.key("")))
        kind = "instanceGroupManager" if scope.kind == "zones" else "regionInstanceGroupManager"
        return listed(call, kind, found, self._shown)

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all places."""
        every = self._groups.under(f"{call.project}/")
        found = ((one.key, one) for one in every)
        kind = "instanceGroupManager"
        return aggregated(call, kind, "instanceGroupManagers", found, self._shown)

    def delete(self, call: Call) -> dict[str, Any]:
        """Gone, with its instances."""
        group = self.named(call)
        self._groups.drop(group)
        return self._operation(call, group)

    def patch(self, call: Call) -> dict[str, Any]:
        """Some fields anew; a new template is rolled out if the group is to do so."""
        group = self.named(call)
        body = normalised(call.body, project=call.project, zone="")
        target = body.pop("targetSize", None)
        versions = body.get("versions")
        if versions and "instanceTemplate" not in body:
            body["instanceTemplate"] = versions[0].get("instanceTemplate", group.template)
        if target is not None:
            _check_size(target)
        if target is not None or "instanceTemplate" in body:
            template = body.get("instanceTemplate", group.template)
            self._groups.check_template(template, call.project)
        before = _version(group)
        policy = {**group.resource["updatePolicy"], **(body.pop("updatePolicy", None) or {})}
        group.resource.update({**body, "updatePolicy": policy})
        self._groups.retemplate(group)
        if target is not None:
            self._groups.resize(group, int(target))
        if _version(group) != before and policy["type"] == "PROACTIVE":
            self._roll_out(group, policy)
        return self._operation(call, group)

    def resize(self, call: Call) -> dict[str, Any]:
        """More or fewer instances."""
        group = self.named(call)
        size = call.query.get("size", "0")
        _check_size(size)
        self._groups.resize(group, int(size))
        return self._operation(call, group)

    def set_template(self, call: Call) -> dict[str, Any]:
        """What new instances are like."""
        group = self.named(call)
        body = normalised(call.body, project=call.project, zone="")
        template = body.get("instanceTemplate", group.template)
        self._groups.check_template(template, call.project)
        group.resource["instanceTemplate"] = template
        group.resource["versions"] = [{"instanceTemplate": group.template}]
        self._groups.retemplate(group)
        return self._operation(call, group)

    def create_instances(self, call: Call) -> dict[str, Any]:
        """More instances, of given names."""
        group = self.named(call)
        names = [one.get("name", "") for one in call.body.get("instances", [])]
        for name in names:
            check_name(name)
            if name in group.members or name in group.missing:
                raise invalid("instances", name, "The group has an instance of that name.")
        self._groups.add(group, names)
        return self._operation(call, group)

    def delete_instances(self, call: Call) -> dict[str, Any]:
        """Fewer: these."""
        group, names = self._chosen(call)
        self._groups.let_go(group, names, is_deleted=True)
        return self._operation(call, group)

    def abandon_instances(self, call: Call) -> dict[str, Any]:
        """Fewer: these leave the group and run on."""
        group, names = self._chosen(call)
        self._groups.let_go(group, names, is_deleted=False)
        return self._operation(call, group)

    def recreate_instances(self, call: Call) -> dict[str, Any]:
        """These anew."""
        group, names = self._chosen(call)
        self._groups.recreate(group, names)
        return self._operation(call, group)

    def apply_updates(self, call: Call) -> dict[str, Any]:
        """Those of these that were made from an older template, anew."""
        group, names = self._chosen(call)
        self._update(group, list(group.members) if call.body.get("allInstances") else names)
        return self._operation(call, group)

    def list_members(self, call: Call) -> dict[str, Any]:
        """Its instances, those that are still to come too."""
        group = self.named(call)
        rows, token = paged(call, ((row["name"], row) for row in shown_members(group, self._find)))
        answer: dict[str, Any] = {"managedInstances": rows}
        return {**answer, "nextPageToken": token} if token else answer

    def list_errors(self, call: Call) -> dict[str, Any]:
        """What went wrong lately."""
        group = self.named(call)
        rows, token = paged(call, ((f"{n:06d}", one) for n, one in enumerate(group.errors)))
        answer: dict[str, Any] = {"items": rows}
        return {**answer, "nextPageToken": token} if token else answer

    # --- the instance groups behind

    def get_group(self, call: Call) -> dict[str, Any]:
        """One instance group."""
        return self._group(self._group_named(call))

    def list_groups(self, call: Call) -> dict[str, Any]:
        """Those of one place."""
        scope = self._base.places.scope(call)
        kind = "instanceGroup" if scope.kind == "zones" else "regionInstanceGroup"
        return listed(call, kind, self._keyed_groups(scope.key("")))

    def aggregated_groups(self, call: Call) -> dict[str, Any]:
        """Those of all places."""
        found = self._keyed_groups(f"{call.project}/")
        return aggregated(call, "instanceGroup", "instanceGroups", found)

    def list_instances(self, call: Call) -> dict[str, Any]:
        """The instances of one."""
        group = self._group_named(call)
        only_running = call.body.get("instanceState") == "RUNNING"
        found: list[Keyed] = []
        for name in sorted(group.members):
            instance = self._find(group.key_of(name))
            if instance is not None and (not only_running or instance.status == "RUNNING"):
                found.append((name, {"instance": instance.link, "status": instance.status}))
        is_zonal = group.scope.kind == "zones"
        answer = listed(call, "instanceGroupsListInstances", found)
        kind = "instanceGroupsListInstances" if is_zonal else "regionInstanceGroupsListInstances"
        return {**answer, "kind": f"compute#{kind}"}

    def named(self, call: Call) -> Group:
        """The group of the path."""
        scope = self._base.places.scope(call)
        return self._groups.get(scope, call.params["instanceGroupManager"])

    def _shown(self, group: Group) -> dict[str, Any]:
        return shown(group, self._find)

    def _group_named(self, call: Call) -> Group:
        scope = self._base.places.scope(call)
        group = self._groups.find(scope.key(call.params["instanceGroup"]))
        if group is None:
            raise not_found(scope, "instanceGroups", call.params["instanceGroup"])
        return group

    def _chosen(self, call: Call) -> tuple[Group, list[str]]:
        group = self.named(call)
        return group, self._groups.members(group, call.body.get("instances", []))

    def _update(self, group: Group, names: Iterable[str]) -> None:
        wanted = last(group.template)
        stale = []
        for name in names:
            instance = self._find(group.key_of(name))
            if instance is not None and made_with(instance) != wanted:
                stale.append(name)
        self._groups.recreate(group, stale)

    def _roll_out(self, group: Group, policy: dict[str, Any]) -> None:
        """A new version reaches every member: one of another name, though of the same template,
        is how a client has all of them replaced or restarted."""
        names = list(group.members)
        if policy["minimalAction"] != "RESTART":
            self._groups.recreate(group, names)
            return
        self._update(group, names)
        for name in names:
            instance = self._find(group.key_of(name))
            if instance is not None and instance.status == "RUNNING":
                run_s = run_seconds(instance.scheduling)
                self._base.instances.restart(instance, run_s=run_s)

    def _keyed_groups(self, prefix: str) -> Iterable[Keyed]:
        return ((one.key, self._group(one)) for one in self._groups.under(prefix))

    def _group(self, group: Group) -> dict[str, Any]:
        resource = group.resource
        network = f"projects/{group.scope.project}/global/networks/default"
        return {
            "kind": "compute#instanceGroup",
            "id": str(int(resource["id"]) + 1),
            "name": resource["name"],
            "description": f"This instance group is controlled by {resource['name']}.",
            "creationTimestamp": resource["creationTimestamp"],
            "fingerprint": fingerprint(group.key),
            "network": f"https://www.googleapis.com/compute/v1/{network}",
            "size": len(group.members),
            "selfLink": resource["instanceGroup"],
            **group.scope.fields,
        }

    def _operation(self, call: Call, group: Group) -> dict[str, Any]:
        resource = group.resource
        return self._base.operations.start(
            call, group.scope, target=resource["selfLink"], target_id=resource["id"]
        )


def _version(group: Group) -> tuple[str, list[str]]:
    return group.template, [one.get("name", "") for one in group.resource["versions"]]


def _check_size(size: Any) -> None:
    if not 0 <= int(size) <= MOST:
        raise invalid("targetSize", str(size), f"Must be between 0 and {MOST}.")
