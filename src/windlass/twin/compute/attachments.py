"""What is put onto an instance and taken off again, and what an instance is part of.

Must not make or delete what it attaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.disks import Disks, named_disks
from windlass.twin.compute.instance import Instance
from windlass.twin.compute.links import last, normalised
from windlass.twin.compute.scopes import Scope, invalid, not_found
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance_methods import InstanceMethods
    from windlass.twin.compute.networks import Networks


class Attachments:
    """The API of what instances have on them."""

    def __init__(
        self,
        base: Ground,
        methods: InstanceMethods,
        *,
        disks: Disks,
        networks: Networks,
    ) -> None:
        self._base = base
        self._named = methods.named
        self._disks = disks
        self._networks = networks

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled here."""
        handlers = {
            "attachDisk": self.attach_disk,
            "detachDisk": self.detach_disk,
            "addAccessConfig": self.add_access,
            "deleteAccessConfig": self.delete_access,
            "updateAccessConfig": self.add_access,
            "addResourcePolicies": self.add_policies,
            "removeResourcePolicies": self.remove_policies,
            "getEffectiveFirewalls": self.firewalls,
            "listReferrers": self.referrers,
            "getGuestAttributes": self.guest_attributes,
        }
        return locked({f"compute.instances.{name}": one for name, one in handlers.items()})

    def attach_disk(self, call: Call) -> dict[str, Any]:
        """A disk more."""
        instance = self._named(call)
        asked = normalised(call.body, project=call.project, zone=instance.zone)
        if not asked.get("source"):
            raise invalid("source", "", "A disk must be named.")
        self._disks.check_attach(asked, instance.scope, field="source")
        asked.setdefault("boot", False)
        disks = named_disks(instance)
        asked.setdefault("deviceName", f"persistent-disk-{len(disks)}")
        if any(one["deviceName"] == asked["deviceName"] for one in disks):
            raise invalid("deviceName", asked["deviceName"], "Device name is already in use.")
        self._set(instance, {"disks": [*disks, asked]})
        self._disks.attached(instance, asked)
        return self._operation(call, instance)

    def detach_disk(self, call: Call) -> dict[str, Any]:
        """One less; it is there still."""
        instance = self._named(call)
        device = call.query["deviceName"]
        disks = named_disks(instance)
        for index, asked in enumerate(disks):
            if asked["deviceName"] != device:
                continue
            if asked.get("boot", index == 0) and instance.status not in ("TERMINATED", "SUSPENDED"):
                message = "Cannot detach the boot disk of a running instance."
                raise unusable(message)
            self._set(instance, {"disks": disks[:index] + disks[index + 1 :]})
            self._disks.taken_out(instance, index, asked)
            return self._operation(call, instance)
        message = (
            f"Invalid value for field 'disk': '{device}'. No attached disk found with device name "
            f"'{device}'"
        )
        raise Refusal(400, message, reason="invalid")

    def add_access(self, call: Call) -> dict[str, Any]:
        """An external address."""
        return self._set_access(call, [{"name": "external-nat", **call.body}])

    def delete_access(self, call: Call) -> dict[str, Any]:
        """No external address."""
        return self._set_access(call, [])

    def _set_access(self, call: Call, configs: list[dict[str, Any]]) -> dict[str, Any]:
        instance = self._named(call)
        name = call.query.get("networkInterface", "nic0")
        faces = [dict(one) for one in instance.value("networkInterfaces") or [{}]]
        index = int(name.removeprefix("nic")) if name.removeprefix("nic").isdecimal() else -1
        if not 0 <= index < len(faces):
            raise invalid("networkInterface", name, "There is no such interface.")
        faces[index].pop("accessConfigs", None)
        if configs:
            faces[index]["accessConfigs"] = configs
        self._set(instance, {"networkInterfaces": faces})
        return self._operation(call, instance)

    def add_policies(self, call: Call) -> dict[str, Any]:
        """More resource policies."""
        instance = self._named(call)
        named = normalised(call.body, project=call.project, zone=instance.zone)
        present = instance.value("resourcePolicies") or []
        added = [one for one in named.get("resourcePolicies", []) if one not in present]
        for check in self._base.asks.checks:
            check({"resourcePolicies": added}, instance.scope)
        self._set(instance, {"resourcePolicies": [*present, *added]})
        return self._operation(call, instance)

    def remove_policies(self, call: Call) -> dict[str, Any]:
        """Fewer."""
        instance = self._named(call)
        names = {last(one) for one in call.body.get("resourcePolicies", [])}
        present = instance.value("resourcePolicies") or []
        left = [one for one in present if last(one) not in names]
        self._set(instance, {"resourcePolicies": left})
        return self._operation(call, instance)

    def firewalls(self, call: Call) -> dict[str, Any]:
        """The rules of its network."""
        instance = self._named(call)
        face = self._base.instances.shown(instance)["networkInterfaces"][0]
        return {"firewalls": self._networks.of_network(face["network"])}

    def referrers(self, call: Call) -> dict[str, Any]:
        """The group that an instance belongs to; of all instances of the zone for `-`."""
        scope = self._base.places.scope(call)
        name = call.params["instance"]
        every = self._base.instances.under(scope.key("")) if name == "-" else [self._named(call)]
        items = [
            {
                "kind": "compute#reference",
                "referenceType": "MEMBER_OF",
                "referrer": group_link(instance.creator),
                "target": instance.link,
            }
            for instance in every
            if instance.creator
        ]
        answer: dict[str, Any] = {"kind": "compute#instanceListReferrers", "id": name}
        return {**answer, "items": items} if items else answer

    def guest_attributes(self, call: Call) -> dict[str, Any]:
        """What the guest has said about itself."""
        instance = self._named(call)
        stored = self._base.instances.guest_attributes.of(instance)
        place = f"instances/{instance.name}/guestAttributes"
        answer = {"kind": "compute#guestAttributes", "selfLink": f"{instance.link}/guestAttributes"}
        variable = call.query.get("variableKey")
        if variable is not None:
            if variable not in stored:
                raise not_found(instance.scope, place, variable)
            return {**answer, "variableKey": variable, "variableValue": stored[variable]}
        path = call.query.get("queryPath", "")
        found = [key for key in sorted(stored) if key == path or key.startswith(path)]
        if not found:
            raise not_found(instance.scope, place, path)
        items = [
            {"namespace": key.partition("/")[0], "key": key.partition("/")[2], "value": stored[key]}
            for key in found
        ]
        return {**answer, "queryPath": path, "queryValue": {"items": items}}

    def _set(self, instance: Instance, values: dict[str, Any]) -> None:
        instance.changes = {**instance.changes, **values}
        self._base.instances.save(instance)

    def _operation(self, call: Call, instance: Instance) -> dict[str, Any]:
        return self._base.operations.start(
            call, instance.scope, target=instance.link, target_id=instance.id
        )


def unusable(why: str) -> Refusal:
    """As Google refuses a change that a resource's state does not allow."""
    return Refusal(400, f"Invalid resource usage: '{why}'.", reason="invalidResourceUsage")


def group_link(key: str) -> str:
    """The URL of the group of that key."""
    words = key.split("/")
    return Scope(words[0], words[1], words[2]).link("instanceGroupManagers", words[3])
