"""A plain collection of resources that are made, shown, changed and deleted.

Must not know which: a Kind says what is special about one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler, Route, locked
from windlass.twin.compute.asks import check_labels, check_name
from windlass.twin.compute.fingerprints import STALE_LABELS, check_fingerprint, fingerprint
from windlass.twin.compute.links import normalised
from windlass.twin.compute.listing import aggregated, listed
from windlass.twin.compute.scopes import Scope, already_exists, not_found

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground

Completion = Callable[[Call | None, Scope, dict[str, Any]], None]
"""Gets the call that makes it; None for what is there from the start."""
Refusing = Callable[[Scope, dict[str, Any]], None]


def _nothing(call: Call | None, scope: Scope, resource: dict[str, Any]) -> None:
    """There is nothing to add."""


def _always(scope: Scope, resource: dict[str, Any]) -> None:
    """It may always go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What one collection is like."""

    collection: str
    """`subnetworks`."""
    singular: str
    """`subnetwork`: the variable of the path, and the kind."""
    has_labels: bool = False
    complete: Completion = _nothing
    """Adds what Google adds to a new resource; raises a Refusal for one that it would not take."""
    check_delete: Refusing = _always
    """Raises a Refusal for a resource that is in use."""
    seconds: float | None = None
    """How long making one takes, if not as long as any operation."""


class Collection:
    """The resources of one kind and their methods."""

    def __init__(self, base: Ground, kind: Kind) -> None:
        self._base = base
        self.kind = kind
        self.shelf = base.cloud.documents(f"compute.{kind.collection}")

    def routes(self, *, group: str = "") -> dict[str, Route]:
        """The methods that every collection has."""
        group = group or self.kind.collection
        handlers: dict[str, Handler] = {
            "insert": self.insert,
            "get": self.get,
            "list": self.list_all,
            "aggregatedList": self.aggregated,
            "delete": self.delete,
            "patch": self.patch,
            "update": self.patch,
            "setLabels": self.set_labels,
            "getIamPolicy": self.get_policy,
            "setIamPolicy": self.set_policy,
            "testIamPermissions": self.test_permissions,
        }
        return locked({f"compute.{group}.{name}": one for name, one in handlers.items()})

    def insert(self, call: Call) -> dict[str, Any]:
        """A new one."""
        base = self._base
        repeated = base.operations.repeated(call)
        if repeated is not None:
            return repeated
        scope = base.places.scope(call)
        resource = self.make(call, scope, call.body)
        return base.operations.start(
            call,
            scope,
            target=resource["selfLink"],
            target_id=resource["id"],
            seconds=self.kind.seconds,
        )

    def make(self, call: Call | None, scope: Scope, body: dict[str, Any]) -> dict[str, Any]:
        """A new one, at once."""
        name = body.get("name", "")
        check_name(name)
        key = scope.key(name)
        if key in self.shelf:
            raise already_exists(scope, self.kind.collection, name)
        zone = scope.place if scope.kind == "zones" else ""
        resource: dict[str, Any] = {
            **normalised(body, project=scope.project, zone=zone),
            "kind": f"compute#{self.kind.singular}",
            "id": self._base.cloud.new_id(),
            "creationTimestamp": self._base.cloud.stamp(),
            "selfLink": scope.link(self.kind.collection, name),
            **scope.fields,
        }
        if self.kind.has_labels:
            check_labels(resource.get("labels") or {})
            resource["labelFingerprint"] = fingerprint(
                sorted((resource.get("labels") or {}).items())
            )
        self.kind.complete(call, scope, resource)
        self.shelf.put(key, resource)
        return resource

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self.found(call)[1]

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of one place."""
        scope = self._base.places.scope(call)
        return listed(call, self.kind.singular, self.shelf.under(scope.key("")))

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all places."""
        found = self.shelf.under(f"{call.project}/")
        return aggregated(call, self.kind.singular, self.kind.collection, found)

    def delete(self, call: Call) -> dict[str, Any]:
        """It is gone."""
        repeated = self._base.operations.repeated(call)
        if repeated is not None:
            return repeated
        scope, resource = self.found(call)
        self.kind.check_delete(scope, resource)
        self.shelf.drop(scope.key(resource["name"]))
        return self.operation(call, scope, resource)

    def patch(self, call: Call) -> dict[str, Any]:
        """Some of its fields anew."""
        scope, resource = self.found(call)
        zone = scope.place if scope.kind == "zones" else ""
        resource.update(normalised(call.body, project=scope.project, zone=zone))
        self.shelf.put(scope.key(resource["name"]), resource)
        return self.operation(call, scope, resource)

    def set_labels(self, call: Call) -> dict[str, Any]:
        """All labels anew."""
        scope, resource = self.found(call)
        labels = call.body.get("labels") or {}
        check_labels(labels)
        check_fingerprint(
            call.body.get("labelFingerprint"), resource.get("labelFingerprint", ""), STALE_LABELS
        )
        resource["labels"] = labels
        resource["labelFingerprint"] = fingerprint(sorted(labels.items()))
        self.shelf.put(scope.key(resource["name"]), resource)
        return self.operation(call, scope, resource)

    def get_policy(self, call: Call) -> dict[str, Any]:
        """Who may use it."""
        return self._base.policies.get(self._place(call))

    def set_policy(self, call: Call) -> dict[str, Any]:
        """Replace that."""
        return self._base.policies.set(self._place(call), call.body.get("policy", call.body))

    def test_permissions(self, call: Call) -> dict[str, Any]:
        """Which of these the caller has."""
        places = [self._place(call), f"projects/{call.project}"]
        wanted = call.body.get("permissions", [])
        return {"permissions": self._base.policies.allowed(call.principal, places, wanted)}

    def found(self, call: Call) -> tuple[Scope, dict[str, Any]]:
        """The resource of the path and its place, or a refusal."""
        scope = self._base.places.scope(call)
        name = call.params.get(self.kind.singular) or call.params["resource"]
        resource = self.shelf.get(scope.key(name))
        if resource is None:
            raise not_found(scope, self.kind.collection, name)
        return scope, resource

    def operation(self, call: Call, scope: Scope, resource: dict[str, Any]) -> dict[str, Any]:
        """An operation on it."""
        return self._base.operations.start(
            call, scope, target=resource["selfLink"], target_id=resource["id"]
        )

    def _place(self, call: Call) -> str:
        _, resource = self.found(call)
        return str(resource["selfLink"]).partition("/v1/")[2]
