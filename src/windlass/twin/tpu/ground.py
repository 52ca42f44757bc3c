"""What every part of Cloud TPU stands on, in one value.

Must not do anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.tpu.guest import WorkerGuest
    from windlass.twin.tpu.kinds import Kinds
    from windlass.twin.tpu.nodes import Nodes
    from windlass.twin.tpu.operations import Operations
    from windlass.twin.tpu.room import Room


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Shared by all of Cloud TPU's collections."""

    cloud: Cloud
    kinds: Kinds
    room: Room
    operations: Operations
    nodes: Nodes
    guest: WorkerGuest
