"""Managed instance groups: they keep as many instances as they are to have.

Must not give up: what cannot be made for want of room is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.asks import Ask
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.group import Group, Missing, Plan, zones_of
from windlass.twin.compute.links import last
from windlass.twin.compute.scopes import Scope, invalid, not_found
from windlass.twin.machine import End
from windlass.twin.market import Model
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance import Instance
    from windlass.twin.compute.room import Refused
    from windlass.twin.compute.templates import Templates

AGAIN_S = 30.0
"""So often a group tries again to make what it lacks."""
LETTERS = "0123456789bcdfghjklmnpqrstvwxz"
DEFAULT_UPDATES = {
    "type": "OPPORTUNISTIC",
    "minimalAction": "REPLACE",
    "replacementMethod": "SUBSTITUTE",
    "maxSurge": {"fixed": 1, "calculated": 1},
    "maxUnavailable": {"fixed": 1, "calculated": 1},
}


class Groups:
    """All managed instance groups of the project. Hears of their instances."""

    def __init__(self, base: Ground, templates: Templates) -> None:
        self._base = base
        self._templates = templates
        kind = Kind(
            collection="instanceGroupManagers",
            singular="instanceGroupManager",
            complete=self._complete,
        )
        self.collection = Collection(base, kind)
        self._groups: dict[str, Group] = {}
        self.leavers: list[Callable[[str], None]] = []
        """Told the key of each group that goes: what is part of one goes with it."""
        for key, resource in self.collection.shelf.items():
            self._open(key, resource)
        for instance in sorted(base.instances.under(""), key=lambda one: one.number):
            group = self._groups.get(instance.creator)
            if group is not None:
                group.members[instance.name] = instance.zone
        base.instances.listen(self, ["gone", *End])
        base.cloud.on("compute.group.retry", self._retry)

    # --- what there is

    def get(self, scope: Scope, name: str) -> Group:
        """A group, or a refusal."""
        group = self._groups.get(scope.key(name))
        if group is None:
            raise not_found(scope, "instanceGroupManagers", name)
        return group

    def under(self, prefix: str) -> list[Group]:
        """Those whose key begins so, in order."""
        return [self._groups[key] for key in sorted(self._groups) if key.startswith(prefix)]

    def find(self, key: str) -> Group | None:
        """By key, if it is there."""
        return self._groups.get(key)

    # --- what is done to them

    def make(self, call: Call, scope: Scope, body: dict[str, Any]) -> Group:
        """A new group, with its instances on their way."""
        resource = self.collection.make(call, scope, body)
        group = self._open(scope.key(resource["name"]), resource)
        try:
            self.plan(group, group.zones[0])
        except Refusal:
            self.drop(group)
            raise
        self.fill(group)
        return group

    def drop(self, group: Group) -> None:
        """Gone, with its instances."""
        self.resize(group, 0)
        del self._groups[group.key]
        self.collection.shelf.drop(group.key)
        for leave in self.leavers:
            leave(group.key)

    def resize(self, group: Group, target: int) -> None:
        """It is to have so many from now on."""
        self.set_target(group, target)
        for name in list(group.missing)[max(0, target - len(group.members)) :]:
            del group.missing[name]
        excess = len(group.members) - target
        if excess > 0:
            for name in list(group.members)[-excess:]:
                self._remove(group, name)
        self.fill(group)

    def check_template(self, url: str, project: str) -> None:
        """Refuse a template that there is not."""
        self._templates.properties(url, project)

    def set_target(self, group: Group, target: int) -> None:
        """Only write it down."""
        group.resource["targetSize"] = target
        self.collection.shelf.put(group.key, group.resource)

    def fill(self, group: Group) -> None:
        """Make what it lacks."""
        while not group.has_enough:
            self._make(group, self._new_name(group), group.emptiest_zone())

    def let_go(self, group: Group, names: Iterable[str], *, is_deleted: bool) -> None:
        """Members leave and are not made anew."""
        names = list(names)
        self.set_target(group, max(0, group.target - len(names)))
        for name in names:
            if is_deleted:
                self._remove(group, name)
                continue
            instance = self._base.instances.find(group.key_of(name))
            del group.members[name]
            if instance is not None:
                instance.creator = ""
                self._base.instances.save(instance)

    def recreate(self, group: Group, names: Iterable[str]) -> None:
        """Members are made anew, from the present template."""
        for name in names:
            zone = group.members[name]
            # At once: the new one has its name.
            self._remove(group, name, seconds=0.0)
            self._make(group, name, zone)

    def add(self, group: Group, names: Iterable[str]) -> None:
        """More members, of these names."""
        names = list(names)
        self.set_target(group, group.target + len(names))
        for name in names:
            self._make(group, name, group.emptiest_zone())

    def add_all(self, group: Group, names: list[str], run_s: float | None) -> Refused | None:
        """More members in one zone, for a time: all of them, or none and why."""
        refused: Refused | None = None
        for zone in group.zones:
            plan = _for_a_time(self.plan(group, zone), run_s)
            grant = self._base.room.granted(plan.ask, plan.scope, len(names))
            refused = grant.refused
            if refused is None:
                self.set_target(group, group.target + len(names))
                for name in names:
                    self._create(group, name, plan, grant.reservation)
                return None
        return refused

    def new_names(self, group: Group, count: int) -> list[str]:
        """Names that no member has."""
        names: dict[str, None] = {}
        while len(names) < count:
            names[self._new_name(group)] = None
        return list(names)

    def retemplate(self, group: Group) -> None:
        """The template has changed; instances that are there keep theirs for now."""
        group.plans.clear()
        self.collection.shelf.put(group.key, group.resource)

    def plan(self, group: Group, zone: str) -> Plan:
        """How its instances are made in a zone; a refusal where Google would not."""
        plan = group.plans.get(zone)
        if plan is None:
            plan = group.plans[zone] = self._planned(group, zone)
        return plan

    def members(self, group: Group, urls: Iterable[str]) -> list[str]:
        """The members that URLs name, or a refusal."""
        names = [last(url) for url in urls]
        for name in names:
            if name not in group.members:
                why = f"Instance '{name}' is not a member of {group.resource['name']}."
                raise invalid("instances", name, why)
        return names

    # --- what is heard of their instances

    def heard(self, instance: Instance, what: str) -> None:
        """See instances.Listener."""
        if not instance.creator:
            return
        group = self._groups.get(instance.creator)
        if group is None or instance.name not in group.members:
            return
        if what == "gone":
            zone = group.members.pop(instance.name)
            if not self._is_replaced(group, instance):
                self.set_target(group, max(0, group.target - 1))
            elif not group.has_enough:
                self._make(group, instance.name, zone)
        elif what == End.EXPIRED.value:
            self.let_go(group, [instance.name], is_deleted=True)
        elif what != End.FAILED.value and group.repairs and instance.status == "TERMINATED":
            # One whose host died starts again by itself.
            self._base.instances.delete(instance, seconds=0)

    def _is_replaced(self, group: Group, instance: Instance) -> bool:
        given = instance.properties.get("scheduling") or {}
        return group.repairs and given.get("provisioningModel") != Model.FLEX_START.value

    # --- inside

    def _open(self, key: str, resource: dict[str, Any]) -> Group:
        scope = Scope(*key.split("/")[:3])
        every = self._base.places.zones_of(scope.place) if scope.kind == "regions" else []
        group = Group(
            key=key, scope=scope, resource=resource, zones=zones_of(resource, scope, every)
        )
        self._groups[key] = group
        return group

    def _make(self, group: Group, name: str, zone: str) -> None:
        plan = group.plans.get(zone) or self.plan(group, zone)
        grant = self._base.room.granted(plan.ask, plan.scope)
        if grant.refused is None:
            self._create(group, name, plan, grant.reservation)
            return
        error = grant.refused.error
        group.missing[name] = Missing(zone, error)
        group.failed(name, zone, error, stamp=self._base.cloud.stamp())
        self._try_later(group)

    def _create(self, group: Group, name: str, plan: Plan, reservation: str) -> None:
        group.members[name] = plan.scope.place
        self._base.instances.create(
            plan.scope, name, plan.ask, creator=group.key, reservation=reservation
        )

    def _try_later(self, group: Group) -> None:
        if not group.is_retrying:
            group.is_retrying = True
            self._base.cloud.later(AGAIN_S, "compute.group.retry", group.key)

    def _retry(self, key: str) -> None:
        group = self._groups.get(key)
        if group is None:
            return
        group.is_retrying = False
        if not group.missing:
            self.fill(group)
            return
        full: set[str] = set()
        for name, missing in list(group.missing.items()):
            for zone in (missing.zone, *(one for one in group.zones if one != missing.zone)):
                if zone in full:
                    continue
                plan = self.plan(group, zone)
                grant = self._base.room.granted(plan.ask, plan.scope)
                if grant.refused is None:
                    del group.missing[name]
                    self._create(group, name, plan, grant.reservation)
                    break
                full.add(zone)
        if group.missing:
            self._try_later(group)

    def _remove(self, group: Group, name: str, *, seconds: float | None = None) -> None:
        instance = self._base.instances.find(group.key_of(name))
        del group.members[name]
        if instance is not None:
            # While it goes it belongs to nobody, for the next twin neither.
            instance.creator = ""
            delay = self._base.cloud.settings.delays.stop if seconds is None else seconds
            self._base.instances.delete(instance, seconds=delay)

    def _new_name(self, group: Group) -> str:
        chance = self._base.cloud.chance
        while True:
            tail = "".join(LETTERS[int(chance.random() * len(LETTERS))] for _ in range(4))
            name = f"{group.resource['baseInstanceName']}-{tail}"
            if name not in group.members and name not in group.missing:
                return name

    def _planned(self, group: Group, zone: str) -> Plan:
        project = group.scope.project
        number = self._base.cloud.settings.project_number
        template = self._templates.properties(group.template, project)
        metadata = dict(template.get("metadata") or {})
        path = group.template.partition(f"/projects/{project}/")[2]
        creator = f"{group.scope.path}/instanceGroupManagers/{group.resource['name']}"
        metadata["items"] = [
            *metadata.get("items", []),
            {"key": "instance-template", "value": f"projects/{number}/{path}"},
            {"key": "created-by", "value": f"projects/{number}/{creator}"},
        ]
        scope = Scope(project, "zones", zone)
        return Plan(scope, self._base.asks.checked({**template, "metadata": metadata}, scope))

    def _complete(self, call: Call | None, scope: Scope, resource: dict[str, Any]) -> None:
        versions = resource.get("versions") or []
        if "instanceTemplate" not in resource and versions:
            resource["instanceTemplate"] = versions[0].get("instanceTemplate", "")
        if not resource.get("instanceTemplate"):
            raise invalid("instanceTemplate", "", "An instance template must be specified.")
        resource["versions"] = versions or [{"instanceTemplate": resource["instanceTemplate"]}]
        resource.setdefault("baseInstanceName", resource["name"])
        resource["targetSize"] = int(resource.get("targetSize", 0))
        resource["instanceGroup"] = scope.link("instanceGroups", resource["name"])
        resource["updatePolicy"] = {**DEFAULT_UPDATES, **(resource.get("updatePolicy") or {})}
        resource.setdefault(
            "instanceLifecyclePolicy",
            {"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "NO"},
        )


def _for_a_time(plan: Plan, run_s: float | None) -> Plan:
    """The same, but of those that run for a while and are deleted then."""
    ask = plan.ask
    if run_s is None or ask.wanted.model is Model.RESERVED:
        return plan
    scheduling = {
        **(ask.properties.get("scheduling") or {}),
        "provisioningModel": Model.FLEX_START.value,
        "maxRunDuration": {"seconds": str(int(run_s))},
        "instanceTerminationAction": "DELETE",
        "onHostMaintenance": "TERMINATE",
        "automaticRestart": False,
    }
    properties = {**ask.properties, "scheduling": scheduling}
    wanted = ask.wanted._replace(model=Model.FLEX_START)
    return Plan(plan.scope, Ask(properties, wanted, run_s))
