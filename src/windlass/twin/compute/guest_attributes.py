"""Guest attributes: what a guest says about itself, for the API to read.

Must not be written by the API: the metadata server does, for the guest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.instance import Instance


class GuestAttributes:
    """By instance. Hears of instances that go."""

    def __init__(self, cloud: Cloud) -> None:
        self._shelf = cloud.documents("compute.guestAttributes")

    def of(self, instance: Instance) -> Mapping[str, str]:
        """Its attributes, by `namespace/key`."""
        return self._shelf.get(instance.key) or {}

    def put(self, instance: Instance, name: str, value: str) -> None:
        """The guest says so; `name` is `namespace/key`."""
        self._shelf.put(instance.key, {**self.of(instance), name: value})

    def drop(self, instance: Instance, name: str) -> None:
        """The guest says so no more."""
        left = {key: value for key, value in self.of(instance).items() if key != name}
        self._shelf.put(instance.key, left)

    def heard(self, instance: Instance, what: str) -> None:
        """See instances.Listener."""
        self._shelf.drop(instance.key)
