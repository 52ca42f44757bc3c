"""Persistent disks: those that were made by themselves, and those that came with an instance.

Must not keep a record for a disk that its instance describes: there may be a hundred thousand. It
gets one when it outlives the instance or is taken out of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.asks import check_labels
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.fingerprints import STALE_LABELS, check_fingerprint, fingerprint
from windlass.twin.compute.instance import (
    DEFAULT_DISK_GB,
    Instance,
    device_name,
    disk_name,
    disk_size_gb,
)
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.listing import Keyed, aggregated, listed
from windlass.twin.compute.scopes import Scope, already_exists, in_use, invalid, not_found
from windlass.twin.compute.snapshots import Snapshots

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.images import Images

DEFAULT_TYPE = "pd-standard"


class Part(NamedTuple):
    """A disk that its instance describes."""

    instance: Instance
    place: int
    asked: dict[str, Any]

    @property
    def name(self) -> str:
        """The disk's."""
        return disk_name(self.instance, self.place, self.asked)


class Disks:
    """All persistent disks of the project. Hears of instances that go."""

    def __init__(self, base: Ground, images: Images) -> None:
        self._base = base
        self._images = images
        kind = Kind(
            collection="disks",
            singular="disk",
            has_labels=True,
            complete=self._complete,
            check_delete=_check_delete,
        )
        self.collection = Collection(base, kind)
        self._snapshots = Snapshots(base)
        base.instances.listen(self, ["gone"])
        base.asks.checks.append(self.check_ask)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers = {
            "insert": self.insert,
            "get": self.get,
            "list": self.list_all,
            "aggregatedList": self.aggregated,
            "delete": self.delete,
            "resize": self.resize,
            "setLabels": self.set_labels,
            "createSnapshot": self.create_snapshot,
        }
        return {
            **self.collection.routes(),
            **locked({f"compute.disks.{name}": one for name, one in handlers.items()}),
            **self._snapshots.routes(),
        }

    # --- for instances

    def check_ask(self, properties: dict[str, Any], scope: Scope) -> None:
        """Refuse an instance with a disk that is not there, or that another one writes to."""
        for index, asked in enumerate(properties.get("disks") or []):
            if asked.get("source"):
                self.check_attach(asked, scope, field=f"disks[{index}].source")

    def check_attach(self, asked: dict[str, Any], scope: Scope, *, field: str) -> None:
        """Refuse a disk that cannot be put into an instance."""
        url = asked["source"]
        try:
            resource = self.shown(scope, last(url))
        except LookupError:
            why = "The referenced disk resource cannot be found."
            raise invalid(field, url, why) from None
        if resource.get("users") and asked.get("mode") != "READ_ONLY":
            raise in_use(url, resource["users"][0])

    def came(self, instance: Instance | None) -> None:
        """A new instance may have disks that were there before."""
        for asked in (instance.value("disks") or ()) if instance is not None else ():
            if instance is not None and asked.get("source"):
                self.attached(instance, asked)

    def attached(self, instance: Instance, asked: dict[str, Any]) -> None:
        """A disk with a record was put into an instance."""
        key = _key(asked["source"])
        resource = self.collection.shelf.get(key)
        if resource is not None and instance.link not in resource.get("users", []):
            resource["users"] = [*resource.get("users", []), instance.link]
            resource["lastAttachTimestamp"] = self._base.cloud.stamp()
            self.collection.shelf.put(key, resource)

    def taken_out(self, instance: Instance, index: int, asked: dict[str, Any]) -> None:
        """A disk no longer belongs to an instance; it is there still."""
        if asked.get("type") == "SCRATCH":
            return
        if "source" not in asked:
            resource = self._described(Part(instance, index, asked))
            key = instance.scope.key(resource["name"])
        else:
            key = _key(asked["source"])
            found = self.collection.shelf.get(key)
            if found is None:
                return
            resource = found
        users = [one for one in resource.pop("users", []) if one != instance.link]
        if users:
            resource["users"] = users
        resource["lastDetachTimestamp"] = self._base.cloud.stamp()
        self.collection.shelf.put(key, resource)

    def heard(self, instance: Instance, what: str) -> None:
        """See instances.Listener: a disk stays unless it was to go with its instance."""
        for index, asked in enumerate(instance.value("disks") or ()):
            if not asked.get("autoDelete"):
                self.taken_out(instance, index, asked)
            elif "source" in asked:
                self.collection.shelf.drop(_key(asked["source"]))

    def shown(self, scope: Scope, name: str) -> dict[str, Any]:
        """A disk as the API gives it; LookupError where there is none."""
        resource = self.collection.shelf.get(scope.key(name))
        if resource is not None:
            return resource
        part = self._part(scope, name)
        if part is None:
            raise LookupError(name)
        return self._described(part)

    # --- the API

    def insert(self, call: Call) -> dict[str, Any]:
        """A new disk."""
        scope = self._base.places.scope(call)
        name = call.body.get("name", "")
        if self._part(scope, name) is not None:
            raise already_exists(scope, "disks", name)
        image = call.query.get("sourceImage")
        if image:
            call.body["sourceImage"] = image
        return self.collection.insert(call)

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._found(call)[1]

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a zone."""
        found = self._keyed(self._base.places.scope(call).key(""))
        return listed(call, "disk", found, self._show)

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all zones."""
        found = self._keyed(f"{call.project}/")
        return aggregated(call, "disk", "disks", found, self._show)

    def delete(self, call: Call) -> dict[str, Any]:
        """Gone, unless an instance has it."""
        scope, resource = self._found(call)
        _check_delete(scope, resource)
        return self.collection.delete(call)

    def resize(self, call: Call) -> dict[str, Any]:
        """Larger; never smaller."""
        scope, resource = self._found(call)
        size = int(call.body.get("sizeGb", 0))
        if size < int(resource["sizeGb"]):
            why = f"New disk size must be larger than the existing size {resource['sizeGb']}."
            raise invalid("sizeGb", str(size), why)
        self._change(scope, resource, {"sizeGb": str(size)}, {"diskSizeGb": str(size)})
        return self.collection.operation(call, scope, resource)

    def set_labels(self, call: Call) -> dict[str, Any]:
        """All labels anew."""
        scope, resource = self._found(call)
        labels = call.body.get("labels") or {}
        check_labels(labels)
        present = resource["labelFingerprint"]
        check_fingerprint(call.body.get("labelFingerprint"), present, STALE_LABELS)
        mark = fingerprint(sorted(labels.items()))
        self._change(
            scope, resource, {"labels": labels, "labelFingerprint": mark}, {"labels": labels}
        )
        return self.collection.operation(call, scope, resource)

    def create_snapshot(self, call: Call) -> dict[str, Any]:
        """What is on it now, kept."""
        scope, resource = self._found(call)
        self._snapshots.take(call, resource)
        return self.collection.operation(call, scope, resource)

    # --- inside

    def _found(self, call: Call) -> tuple[Scope, dict[str, Any]]:
        scope = self._base.places.scope(call)
        name = call.params.get("disk") or call.params["resource"]
        try:
            return scope, self.shown(scope, name)
        except LookupError:
            raise not_found(scope, "disks", name) from None

    def _part(self, scope: Scope, name: str) -> Part | None:
        """The disk of that name that an instance describes. Most are named after theirs."""
        likely = (name, name.rpartition("-")[0])
        instances = [self._base.instances.find(scope.key(one)) for one in likely if one]
        for part in self._parts(one for one in instances if one is not None):
            if part.name == name:
                return part
        for part in self._parts(self._base.instances.under(scope.key(""))):
            if part.name == name:
                return part
        return None

    def _parts(self, instances: Iterable[Instance]) -> Iterable[Part]:
        for instance in instances:
            for index, asked in enumerate(instance.value("disks") or ()):
                if "source" not in asked and asked.get("type") != "SCRATCH":
                    yield Part(instance, index, asked)

    def _keyed(self, prefix: str) -> Iterable[Keyed]:
        yield from self.collection.shelf.under(prefix)
        for part in self._parts(self._base.instances.under(prefix)):
            yield part.instance.scope.key(part.name), part

    def _show(self, one: Part | dict[str, Any]) -> dict[str, Any]:
        return self._described(one) if isinstance(one, Part) else one

    def _change(
        self, scope: Scope, resource: dict[str, Any], values: dict[str, Any], asked: dict[str, Any]
    ) -> None:
        """Set fields of a disk: in its record, or in what its instance says about it."""
        key = scope.key(resource["name"])
        if key in self.collection.shelf:
            resource.update(values)
            self.collection.shelf.put(key, resource)
            return
        part = self._part(scope, resource["name"])
        assert part is not None
        parameters = {**part.asked.get("initializeParams", {}), **asked}
        changed = {**part.asked, "initializeParams": parameters}
        if "diskSizeGb" in asked:
            changed["diskSizeGb"] = asked["diskSizeGb"]
        disks = list(part.instance.value("disks"))
        disks[part.place] = changed
        part.instance.changes = {**part.instance.changes, "disks": disks}
        self._base.instances.save(part.instance)

    def _described(self, part: Part) -> dict[str, Any]:
        instance, asked = part.instance, part.asked
        parameters = asked.get("initializeParams", {})
        labels = parameters.get("labels") or {}
        scope = instance.scope
        resource: dict[str, Any] = {
            "kind": "compute#disk",
            # A number of its own that follows from the instance's.
            "id": str(int(instance.id) + part.place + 1),
            "name": part.name,
            "creationTimestamp": self._base.cloud.stamp(instance.created),
            "sizeGb": disk_size_gb(asked),
            "status": "READY",
            "type": parameters.get("diskType") or scope.link("diskTypes", DEFAULT_TYPE),
            "physicalBlockSizeBytes": "4096",
            "labelFingerprint": fingerprint(sorted(labels.items())),
            "lastAttachTimestamp": self._base.cloud.stamp(instance.created),
            "selfLink": scope.link("disks", part.name),
            "users": [instance.link],
            **scope.fields,
        }
        if labels:
            resource["labels"] = labels
        for field in ("sourceImage", "sourceSnapshot"):
            if field in parameters:
                resource[field] = parameters[field]
        return resource

    def _complete(self, call: Call | None, scope: Scope, disk: dict[str, Any]) -> None:
        if disk.get("sourceImage"):
            self._images.check(disk["sourceImage"], project=scope.project)
        size = disk.get("sizeGb")
        if disk.get("sourceSnapshot"):
            size = size or self._snapshots.size_gb(disk["sourceSnapshot"], scope.project)
        disk["sizeGb"] = str(size or DEFAULT_DISK_GB)
        disk.setdefault("type", scope.link("diskTypes", DEFAULT_TYPE))
        disk.setdefault("physicalBlockSizeBytes", "4096")
        disk["status"] = "READY"


def named_disks(instance: Instance) -> list[dict[str, Any]]:
    """An instance's disks as asked for, each with its name and device: they keep both when one
    before them is taken out."""
    named = []
    for index, asked in enumerate(instance.value("disks") or []):
        one = {**asked, "deviceName": device_name(asked, index)}
        if "source" not in asked and asked.get("type") != "SCRATCH":
            parameters = asked.get("initializeParams", {})
            name = disk_name(instance, index, asked)
            one["initializeParams"] = {**parameters, "diskName": name}
        named.append(one)
    return named


def _check_delete(scope: Scope, resource: dict[str, Any]) -> None:
    if resource.get("users"):
        raise in_use(resource["selfLink"], resource["users"][0])


def _key(url: str) -> str:
    named = parts(url)
    return Scope(named["projects"], "zones", named["zones"]).key(last(url))
