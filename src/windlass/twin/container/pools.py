"""Node pools and their nodes: kept at the size that was asked for, as far as there is room.

Must not run a kubelet: a node is a machine that only the bill, the market and the quotas know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from windlass.twin.container.kinds import Kinds, model_of, run_seconds
from windlass.twin.container.names import Path, not_found
from windlass.twin.machine import Boot, End, Machine, State
from windlass.twin.market import Model, Wanted
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.room import Refused
    from windlass.twin.fleet import Fleet

SERVICE = "container"
RETRY_S = 60.0
QUOTA_PAGE = "https://console.cloud.google.com/iam-admin/quotas?usage=USED&project="


class Pools:
    """All node pools. Implements fleet.Watcher."""

    def __init__(self, ground: Ground, *, fleet: Fleet, kinds: Kinds) -> None:
        self._cloud = ground.cloud
        self._ground = ground
        self._fleet = fleet
        self._kinds = kinds
        self._pools = ground.cloud.documents("container.pools")
        fleet.watch(SERVICE, self)
        ground.cloud.on("container.fill", self.fill)

    def find(self, path: Path) -> dict[str, Any]:
        """A pool's record."""
        record = self._pools.get(path.key)
        if record is None:
            raise not_found(path)
        return record

    def exists(self, path: Path) -> bool:
        """Whether there is such a pool."""
        return path.key in self._pools

    def under(self, cluster: Path) -> list[dict[str, Any]]:
        """The records of a cluster's pools."""
        return [record for _, record in self._pools.under(f"{cluster.key}/")]

    def save(self, record: dict[str, Any]) -> None:
        """It was changed."""
        self._pools.put(record["key"], record)

    def check(self, pools: list[dict[str, Any]], zones: list[str]) -> None:
        """Refuse pools that could never be had, or not within the quota."""
        wanted: Counter[Wanted] = Counter()
        first: dict[str, str] = {}
        for pool in pools:
            self._kinds.check_topology(pool)
            for zone in pool.get("locations") or zones:
                kind = self._kinds.wanted(pool, zone)
                # The quota of TPUs is the zone's, all other is the region's.
                if not kind.chip.startswith("tpu"):
                    kind = kind._replace(zone=first.setdefault(kind.region, zone))
                wanted[kind] += _first_size(pool)
        for kind, count in sorted(wanted.items()):
            self._check_quota(kind, count)

    def add(self, path: Path, pool: dict[str, Any], *, zones: list[str]) -> dict[str, Any]:
        """Keep a pool and make its nodes."""
        places = pool.get("locations") or zones
        record: dict[str, Any] = {
            "key": path.key,
            "shown": {**pool, "locations": places, "selfLink": path.link},
            "target": {zone: _first_size(pool) for zone in places},
            "nodes": [],
            "doing": "PROVISIONING",
            "trouble": None,
            "again_at": 0.0,
        }
        self.save(record)
        self.fill(path.key, boot_s=self._cloud.settings.delays.cluster)
        return record

    def resize(self, path: Path, count: int) -> None:
        """So many nodes in each zone from now on."""
        record = self.find(path)
        wanted = self._kinds.wanted(record["shown"], record["shown"]["locations"][0])
        more = sum(max(0, count - size) for size in record["target"].values())
        if more:
            self._check_quota(wanted, more)
        record["target"] = dict.fromkeys(record["target"], count)
        for zone in record["target"]:
            nodes = [node for node in self.nodes(record) if node.wanted.zone == zone]
            for node in nodes[count:]:
                self._remove(record, node)
        self.save(record)
        self.fill(path.key, boot_s=self._cloud.settings.delays.cluster)

    def move(self, record: dict[str, Any], zones: list[str]) -> None:
        """Other zones from now on, with as many nodes in each as before."""
        size = max(record["target"].values(), default=0)
        for node in self.nodes(record):
            if node.wanted.zone not in zones:
                self._remove(record, node)
        record["target"] = {zone: record["target"].get(zone, size) for zone in zones}
        record["shown"] = {**record["shown"], "locations": zones}
        self.save(record)
        self.fill(record["key"])

    def drop(self, record: dict[str, Any]) -> None:
        """The nodes go; the record stays until the operation is over."""
        record["target"] = dict.fromkeys(record["target"], 0)
        record["doing"] = "STOPPING"
        for node in self.nodes(record):
            self._remove(record, node)
        self.save(record)

    def forget(self, record: dict[str, Any]) -> None:
        """It is gone."""
        self._pools.drop(record["key"])

    def settle(self, record: dict[str, Any]) -> str:
        """What was under way is over; why it went wrong, or nothing."""
        record["doing"] = ""
        self.save(record)
        return str(record["trouble"]["message"]) if record["trouble"] else ""

    def nodes(self, record: dict[str, Any]) -> list[Machine]:
        """The machines of a pool, oldest first."""
        found = (self._fleet.get(node) for node in record["nodes"])
        return [node for node in found if node is not None]

    def running(self, machine: Machine) -> None:
        """See fleet.Watcher."""

    def warned(self, machine: Machine) -> None:
        """See fleet.Watcher."""

    def boot(self, machine: Machine) -> Boot | None:
        """See fleet.Watcher. Nothing runs on a node: there is no Kubernetes to tell it what."""
        return None

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """See fleet.Watcher. Nodes are made anew, but for those whose time is up."""
        record = self._pools.get(machine.owner)
        if record is None:
            self._fleet.remove(machine)
            return
        zone = machine.wanted.zone
        is_over = end is End.EXPIRED and model_of(record["shown"]) is Model.FLEX_START
        if is_over and record["target"].get(zone):
            record["target"][zone] -= 1
        # The hosts of a TPU slice are nothing without each other.
        for node in self.nodes(record) if _is_slice(record["shown"]) else [machine]:
            self._remove(record, node)
        self._again(record)

    def fill(self, key: str, *, boot_s: float | None = None) -> None:
        """Make the nodes that are missing, or say what is in the way and try again later."""
        record = self._pools.get(key)
        if record is None or record["doing"] == "STOPPING":
            return
        seconds = self._cloud.settings.delays.boot if boot_s is None else boot_s
        refused = None
        for zone, missing in self._missing(record):
            refused = self._make(record, zone, missing, boot_s=seconds) or refused
        record["trouble"] = _trouble(refused) if refused is not None else None
        self.save(record)
        if refused is not None:
            self._again(record)

    def _again(self, record: dict[str, Any]) -> None:
        """Fill it in a while, however many nodes ask for that meanwhile."""
        now = self._cloud.clock.now()
        if record["again_at"] <= now:
            record["again_at"] = now + RETRY_S
            self._cloud.at(record["again_at"], "container.fill", record["key"])
        self.save(record)

    def _missing(self, record: dict[str, Any]) -> Iterator[tuple[str, int]]:
        there = Counter(node.wanted.zone for node in self.nodes(record))
        for zone, size in sorted(record["target"].items()):
            if size > there[zone]:
                yield zone, size - there[zone]

    def _make(
        self, record: dict[str, Any], zone: str, count: int, *, boot_s: float
    ) -> Refused | None:
        """Make as many as fit; what stood in the way of the others."""
        pool = record["shown"]
        wanted = self._kinds.wanted(pool, zone)
        step = count if _is_slice(pool) else 1
        for _ in range(0, count, step):
            refused = self._ground.room.refused(wanted, step)
            if refused is not None:
                return refused
            for _ in range(step):
                labels = pool["config"].get("resourceLabels", {})
                node = self._fleet.add(SERVICE, record["key"], wanted, labels=labels)
                record["nodes"].append(node.id)
                self._fleet.start(node, boot_s=boot_s, run_s=run_seconds(pool))
        return None

    def _remove(self, record: dict[str, Any], node: Machine) -> None:
        record["nodes"].remove(node.id)
        self._fleet.remove(node)

    def _check_quota(self, wanted: Wanted, count: int) -> None:
        exceeded = self._ground.quotas.exceeded(wanted, count)
        if exceeded is None:
            return
        free = max(0.0, exceeded.limit - exceeded.usage)
        message = (
            f'Insufficient regional quota to satisfy request: resource "{exceeded.metric}": '
            f"request requires '{exceeded.wanted:.1f}' and is short "
            f"'{exceeded.wanted - free:.1f}'. project has a quota of '{exceeded.limit:.1f}' with "
            f"'{free:.1f}' available. View and manage quotas at "
            f"{QUOTA_PAGE}{self._cloud.settings.project}."
        )
        raise Refusal(403, message, reason="QUOTA_EXCEEDED")


def ready(nodes: list[Machine]) -> int:
    """How many of these run."""
    return sum(1 for node in nodes if node.state in (State.RUNNING, State.WARNED))


def _first_size(pool: dict[str, Any]) -> int:
    """Nodes of queued provisioning come one by one, when something asks for them."""
    if (pool.get("queuedProvisioning") or {}).get("enabled"):
        return 0
    return int(pool.get("initialNodeCount", 0))


def _is_slice(pool: dict[str, Any]) -> bool:
    return bool((pool.get("placementPolicy") or {}).get("tpuTopology"))


def _trouble(refused: Refused) -> dict[str, Any]:
    is_stock = refused.error["code"].startswith("ZONE_RESOURCE_POOL")
    code = "GCE_STOCKOUT" if is_stock else "GCE_QUOTA_EXCEEDED"
    message = f"Google Compute Engine: Not all instances running in IGM. Current errors: [{code}]: "
    return {
        "code": code,
        "canonicalCode": "RESOURCE_EXHAUSTED",
        "message": message + str(refused.error["message"]),
    }
