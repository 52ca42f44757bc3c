"""A fleet with one service that writes down what it hears, and machines without processes.

Must not know a test.
"""

from __future__ import annotations

from buckets import HandClock
from windlass.catalog.load import load_catalog
from windlass.ports.entropy import seeded
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.fleet import Fleet
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import Boot, End, Machine
from windlass.twin.market import Market, Model, Rule, Wanted
from windlass.twin.quotas import Quotas
from windlass.twin.settings import Settings

CATALOG = load_catalog()
CPU = Wanted("us-central1-a", "e2-standard-4", "", 0, Model.STANDARD)
SPOT = CPU._replace(model=Model.SPOT)
L4 = Wanted("us-central1-a", "g2-standard-4", "nvidia-l4", 1, Model.SPOT)


class Processes:
    """Machines that only remember what was done to them."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.exits: dict[str, int] = {}
        self.told: list[tuple[str, str]] = []

    def start(self, machine_id: str, boot: Boot) -> str:
        self.alive.add(machine_id)
        self.told.append(("start", machine_id))
        return f"127.64.0.{len(self.told)}"

    def resume(self, machine_id: str, address: str) -> None:
        self.told.append(("resume", machine_id))

    def warn(self, machine_id: str) -> None:
        self.told.append(("warn", machine_id))

    def kill(self, machine_id: str) -> None:
        self.alive.discard(machine_id)
        self.told.append(("kill", machine_id))

    def delete(self, machine_id: str) -> None:
        self.alive.discard(machine_id)
        self.told.append(("delete", machine_id))

    def exited(self, machine_id: str) -> int | None:
        return self.exits.get(machine_id)

    def living(self) -> list[str]:
        return sorted(self.alive)

    def words(self, machine: Machine) -> list[str]:
        return [word for word, one in self.told if one == machine.id]


class Yard:
    """A fleet with one service, which writes down what it hears."""

    def __init__(
        self,
        *,
        processes: Processes | None = None,
        clock: HandClock | None = None,
        journal: SqliteJournal | None = None,
        live: int = 16,
    ) -> None:
        self.clock = clock or HandClock()
        self.cloud = Cloud(
            clock=self.clock, chance=seeded(3), journal=journal, settings=Settings(live=live)
        )
        self.market = Market(self.cloud)
        self.quotas = Quotas(self.cloud, catalog=CATALOG)
        self.billing = Billing(self.cloud, catalog=CATALOG)
        self.fleet = Fleet(
            self.cloud,
            market=self.market,
            quotas=self.quotas,
            billing=self.billing,
            bodies=processes,
        )
        self.heard: list[str] = []
        self.fleet.watch("yard", self)

    def boot(self, machine: Machine) -> Boot | None:
        return Boot(hostname="m")

    def running(self, machine: Machine) -> None:
        self.heard.append("running")

    def warned(self, machine: Machine) -> None:
        self.heard.append("warned")

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        self.heard.append(end.value if status is None else f"{end.value} {status}")

    def started(
        self, wanted: Wanted = CPU, *, boot_s: float = 0.0, run_s: float | None = None
    ) -> Machine:
        machine = self.fleet.add("yard", "key", wanted, labels={"windlass-run": "r1"})
        self.fleet.start(machine, boot_s=boot_s, run_s=run_s)
        return machine

    def wait(self, seconds: float) -> None:
        end = self.clock.at + seconds
        while (due := self.cloud.next_at()) is not None and due <= end:
            self.clock.at = max(self.clock.at, due)
            self.cloud.advance()
        self.clock.at = end

    def used(self, wanted: Wanted) -> int:
        return 1000 - self.market.room(wanted)


def roomy() -> Yard:
    """A yard in whose market a thousand machines of each kind fit."""
    found = Yard()
    found.market.add(Rule(room=1000))
    return found
