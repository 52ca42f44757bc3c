"""What a machine may know about itself, as the service that owns it describes it.

Must not be told by the machine: everything comes from the cloud's side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from windlass.twin.machine import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A machine as its metadata server shows it."""

    name: str
    number: str
    zone: str
    machine_type: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Its own metadata, start-up script and all."""
    project_attributes: Mapping[str, str] = field(default_factory=dict)
    service_account: str = ""
    """Whose tokens it gets; none when empty."""
    scopes: Sequence[str] = ()
    tags: Sequence[str] = ()
    image: str = ""
    address: str = ""
    external_address: str = ""
    network: str = "default"
    scheduling: Mapping[str, str] = field(default_factory=dict)
    is_preempted: bool = False
    maintenance: str = "NONE"
    disks: Sequence[Mapping[str, Any]] = ()


class Guest(Protocol):
    """A service with machines that ask who they are."""

    def described(self, machine: Machine) -> Description | None:
        """The machine as it is now; None for one that is no longer there."""

    def guest_attributes(self, machine: Machine) -> dict[str, str] | None:
        """What it has told by `namespace/key`; None where it may not tell anything."""

    def set_guest_attribute(self, machine: Machine, path: str, value: str | None) -> None:
        """It tells something, or (None) takes it back."""
