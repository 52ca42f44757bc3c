"""All machines of a simulated twin, and the gangs that their agents form.

Must not decide when machines come and go: the twin does.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from windlass.agent.node import Node
from windlass.agent.orders import Claim
from windlass.simulation.gang import Gang, Machine
from windlass.simulation.provider import Ground
from windlass.simulation.twinned.host import Host, Surroundings
from windlass.twin.machine import Boot

BOOT_S = (0.0, 8.0)
LATE_S = (600.0, 1200.0)
"""A machine that takes so long to start its script comes up after it was given up, or just in
time."""


class Hosts:
    """Implements twin.machine.Bodies."""

    def __init__(self, ground: Ground, *, node: type[Node]) -> None:
        self._timeline = ground.timeline
        self._luck = ground.luck
        self._training = ground.training
        self._node = node
        self._note = ground.note
        self._hosts: dict[str, Host] = {}
        self._gangs: dict[str, Gang] = {}
        self._started = 0
        self.around: Surroundings | None = None
        """Set once the twin is there."""

    @property
    def gangs(self) -> list[Gang]:
        """Every gang there ever was."""
        return list(self._gangs.values())

    def on(self) -> list[Host]:
        """Those with power, the oldest first."""
        return [host for host in self._hosts.values() if host.is_on]

    def enlist(self, host: Host, node: dict[str, Any], claim: Claim) -> Machine:
        """The agent of a host, by what its own files say."""
        gang = self._gangs.get(node["claim"])
        if gang is None:
            gang = Gang(
                self._training(claim.run),
                host.around.disk(node["folder"]),
                claim=node["claim"],
                attempt=node["attempt"],
                nodes=claim.nodes,
            )
            self._gangs[node["claim"]] = gang
        self._note(f"{node['claim']} node {node['node']} boots")
        machine = Machine(
            self._timeline,
            host.around.disk(node["folder"]),
            gang,
            index=node["node"],
            agent=partial(self._node, nonce=self._luck.name()),
            notice_s=claim.notice_s,
        )
        machine.is_cut_off = host.is_cut_off
        gang.machines.append(machine)
        return machine

    # ---- twin.machine.Bodies ---------------------------------------------------------------

    def start(self, machine_id: str, boot: Boot) -> str:
        """See Bodies."""
        assert self.around is not None
        self._started += 1
        host = self._hosts[machine_id] = Host(self.around, machine_id, boot)
        wait_s = self._luck.between(*BOOT_S)
        if self._luck.strikes("late-claim", 0.03):
            wait_s += self._luck.between(*LATE_S)
        self._timeline.after(wait_s, host.begin)
        return f"10.1.{self._started // 250}.{self._started % 250}"

    def resume(self, machine_id: str, address: str) -> None:
        """See Bodies."""

    def warn(self, machine_id: str) -> None:
        """See Bodies."""
        self._hosts[machine_id].press()

    def kill(self, machine_id: str) -> None:
        """See Bodies."""
        self._hosts[machine_id].cut()

    def delete(self, machine_id: str) -> None:
        """See Bodies."""
        host = self._hosts.pop(machine_id, None)
        if host is not None:
            host.cut()

    def exited(self, machine_id: str) -> int | None:
        """See Bodies."""
        host = self._hosts.get(machine_id)
        return None if host is None else host.status

    def living(self) -> list[str]:
        """See Bodies."""
        return [host.id for host in self.on()]
