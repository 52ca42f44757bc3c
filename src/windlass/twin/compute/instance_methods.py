"""compute.instances: the methods that make, show, change and delete instances.

Must not decide what becomes of an instance (instances.py) nor turn it on and off (power.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.asks import check_labels, check_name
from windlass.twin.compute.ending import Endings, guest_grace_s
from windlass.twin.compute.fingerprints import STALE_LABELS, check_fingerprint, fingerprint
from windlass.twin.compute.instance import Instance
from windlass.twin.compute.links import normalised
from windlass.twin.compute.listing import Keyed, aggregated, listed
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.disks import Disks
    from windlass.twin.compute.flex_start import FlexStart
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.templates import Templates

PLAIN_SETTERS = {
    "setTags": ("tags", None),
    "setScheduling": ("scheduling", None),
    "setServiceAccount": ("serviceAccounts", None),
    "setMachineType": ("machineType", "machineType"),
    "setMachineResources": ("guestAccelerators", "guestAccelerators"),
    "setMinCpuPlatform": ("minCpuPlatform", "minCpuPlatform"),
    "updateShieldedInstanceConfig": ("shieldedInstanceConfig", None),
}
"""By method: the field that it sets, and the field of the body that holds it (the body itself
where there is none)."""
ONLY_WHEN_OFF = frozenset({"setMachineType", "setMachineResources", "setServiceAccount"})


class InstanceMethods:
    """The API of instances."""

    def __init__(
        self, base: Ground, templates: Templates, *, flex: FlexStart, disks: Disks
    ) -> None:
        self._base = base
        self.endings = Endings(base)
        self._disks = disks
        self._templates = templates
        self._flex = flex

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled here."""
        handlers = {
            "insert": self.insert,
            "get": self.get,
            "list": self.list_all,
            "aggregatedList": self.aggregated,
            "delete": self.delete,
            "update": self.update,
            "setLabels": self.set_labels,
            "setMetadata": self.set_metadata,
            "setDeletionProtection": self.set_deletion_protection,
            "setDiskAutoDelete": self.set_disk_auto_delete,
            "getIamPolicy": self.get_policy,
            "setIamPolicy": self.set_policy,
            "testIamPermissions": self.test_permissions,
            **dict.fromkeys(PLAIN_SETTERS, self.set_plain),
        }
        return locked({f"compute.instances.{name}": one for name, one in handlers.items()})

    def insert(self, call: Call) -> dict[str, Any]:
        """A new instance, unless quota or stock are in the way: that is said in the operation."""
        base = self._base
        repeated = base.operations.repeated(call)
        if repeated is not None:
            return repeated
        scope = base.places.scope(call)
        body = self._templates.filled(call, call.body)
        name = body.get("name", "")
        check_name(name)
        base.instances.refuse_double(scope, name)
        ask = base.asks.checked({key: body[key] for key in body if key != "name"}, scope)
        target = scope.link("instances", name)
        if self._flex.waits(ask):
            operation = self._flex.insert(call, scope, name, ask=ask)
            self._disks.came(base.instances.find(scope.key(name)))
            return operation
        grant = base.room.granted(ask, scope)
        if grant.refused is not None:
            return base.operations.refuse(call, scope, grant.refused, target=target)
        instance = base.instances.create(scope, name, ask, reservation=grant.reservation)
        self._disks.came(instance)
        seconds = base.cloud.settings.delays.boot
        return base.operations.start(
            call, scope, target=target, target_id=instance.id, seconds=seconds
        )

    def get(self, call: Call) -> dict[str, Any]:
        """One instance."""
        return self._base.instances.shown(self.named(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a zone."""
        scope = self._base.places.scope(call)
        found = self._keyed(scope.key(""))
        return listed(call, "instance", found, self._base.instances.shown)

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all zones."""
        found = self._keyed(f"{call.project}/")
        return aggregated(call, "instance", "instances", found, self._base.instances.shown)

    def delete(self, call: Call) -> dict[str, Any]:
        """Gone, with the disks that say so."""
        base = self._base
        repeated = base.operations.repeated(call)
        if repeated is not None:
            return repeated
        instance = self.named(call)
        if instance.value("deletionProtection"):
            message = (
                f"Invalid resource usage: 'Resource cannot be deleted if it's protected against "
                f"deletion. To delete it, remove the deletion protection: {instance.link}'."
            )
            raise Refusal(400, message, reason="invalidResourceUsage")
        seconds = base.cloud.settings.delays.stop
        base.instances.delete(instance, seconds=seconds, grace_s=guest_grace_s(call))
        return self.endings.operation(call, instance, seconds=seconds)

    def update(self, call: Call) -> dict[str, Any]:
        """Several fields at once."""
        instance = self.named(call)
        self._set(instance, {key: call.body[key] for key in UPDATABLE if key in call.body})
        return self._operation(call, instance)

    def set_labels(self, call: Call) -> dict[str, Any]:
        """All labels anew. A fingerprint that is not the present one is refused."""
        instance = self.named(call)
        labels = call.body.get("labels") or {}
        check_labels(labels)
        check_fingerprint(
            call.body.get("labelFingerprint"),
            fingerprint(sorted((instance.value("labels") or {}).items())),
            STALE_LABELS,
        )
        self._set(instance, {"labels": labels})
        return self._operation(call, instance)

    def set_metadata(self, call: Call) -> dict[str, Any]:
        """All metadata anew; the metadata server tells it at once."""
        instance = self.named(call)
        check_fingerprint(
            call.body.get("fingerprint"),
            fingerprint(sorted(instance.metadata.items())),
            "Supplied fingerprint does not match current metadata fingerprint.",
        )
        self._set(instance, {"metadata": {"items": call.body.get("items", [])}})
        return self._operation(call, instance)

    def set_deletion_protection(self, call: Call) -> dict[str, Any]:
        """Whether it may be deleted."""
        instance = self.named(call)
        protects = call.query.get("deletionProtection", "true") != "false"
        self._set(instance, {"deletionProtection": protects})
        return self._operation(call, instance)

    def set_disk_auto_delete(self, call: Call) -> dict[str, Any]:
        """Whether a disk goes with the instance."""
        instance = self.named(call)
        device = call.query["deviceName"]
        goes = call.query["autoDelete"] == "true"
        shown = self._base.instances.shown(instance)["disks"]
        disks = [
            {**asked, "autoDelete": goes} if one["deviceName"] == device else asked
            for asked, one in zip(instance.value("disks"), shown, strict=True)
        ]
        self._set(instance, {"disks": disks})
        return self._operation(call, instance)

    def set_plain(self, call: Call) -> dict[str, Any]:
        """One field."""
        instance = self.named(call)
        verb = call.method.id.rpartition(".")[2]
        if verb in ONLY_WHEN_OFF and instance.status not in ("TERMINATED", "SUSPENDED"):
            message = (
                f"Invalid resource usage: 'The instance {instance.name} must be stopped before "
                "this change.'."
            )
            raise Refusal(400, message, reason="invalidResourceUsage")
        field, source = PLAIN_SETTERS[verb]
        value = call.body.get(source) if source else call.body
        if verb == "setServiceAccount":
            value = [call.body]
        value = normalised(
            {field: value}, project=instance.scope.project, zone=instance.scope.place
        )[field]
        self._set(instance, {field: value})
        return self._operation(call, instance)

    def get_policy(self, call: Call) -> dict[str, Any]:
        """Who may use it."""
        return self._base.policies.get(self._resource(call))

    def set_policy(self, call: Call) -> dict[str, Any]:
        """Replace that."""
        return self._base.policies.set(self._resource(call), call.body.get("policy", call.body))

    def test_permissions(self, call: Call) -> dict[str, Any]:
        """Which of these the caller has."""
        places = [self._resource(call), f"projects/{call.project}"]
        wanted = call.body.get("permissions", [])
        return {"permissions": self._base.policies.allowed(call.principal, places, wanted)}

    def named(self, call: Call) -> Instance:
        """The instance of the path: by name, or by number."""
        scope = self._base.places.scope(call)
        name = call.params.get("instance") or call.params["resource"]
        if name.isdecimal():
            for instance in self._base.instances.under(scope.key("")):
                if instance.id == name:
                    return instance
        return self._base.instances.get(scope, name)

    def _keyed(self, prefix: str) -> Iterable[Keyed]:
        return ((one.key, one) for one in self._base.instances.under(prefix))

    def _set(self, instance: Instance, values: dict[str, Any]) -> None:
        instance.changes = {**instance.changes, **values}
        self._base.instances.save(instance)

    def _operation(
        self, call: Call, instance: Instance, *, seconds: float | None = None
    ) -> dict[str, Any]:
        return self._base.operations.start(
            call, instance.scope, target=instance.link, target_id=instance.id, seconds=seconds
        )

    def _resource(self, call: Call) -> str:
        instance = self.named(call)
        return f"projects/{call.project}/zones/{instance.zone}/instances/{instance.name}"


UPDATABLE = ("labels", "metadata", "tags", "scheduling", "description", "deletionProtection")
