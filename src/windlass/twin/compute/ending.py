"""Operations that stop or delete an instance: they last until what runs in it has ended.

Must not end anything: instances.py does, and tells of it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.instances import GUEST_GRACE_S
from windlass.twin.compute.operations import NEVER
from windlass.twin.machine import End

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance import Instance

OVER = ("gone", End.STOPPED.value)


class Endings:
    """Which operation waits for which instance."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        self._waiting = base.cloud.documents("compute.endings")
        base.instances.listen(self, OVER)

    def operation(self, call: Call, instance: Instance, *, seconds: float) -> dict[str, Any]:
        """The operation that ends an instance, which has been told to end."""
        machine = self._base.instances.machine(instance)
        is_ending = machine is not None and machine.is_live
        operation = self._base.operations.start(
            call,
            instance.scope,
            target=instance.link,
            target_id=instance.id,
            seconds=NEVER if is_ending else seconds,
        )
        if is_ending:
            key = instance.scope.key(operation["name"])
            known = self._waiting.get(instance.id) or {"operations": []}
            self._waiting.put(instance.id, {"operations": [*known["operations"], key]})
        return operation

    def heard(self, instance: Instance, what: str) -> None:
        """See instances.Listener."""
        record = self._waiting.drop(instance.id)
        for key in (record or {"operations": ()})["operations"]:
            self._base.operations.finish(key)


def guest_grace_s(call: Call) -> float:
    """How long the caller lets the guest shut down."""
    is_hasty = call.query.get("noGracefulShutdown", "").lower() == "true"
    return 0.0 if is_hasty else GUEST_GRACE_S
