"""Networks of ours at Google: made, shown and removed, step by step.

Must not remember anything: what there is, Google says, and what is ours its description says. So a
crash half way is mended by the same command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from windlass.catalog.query import Catalog
from windlass.engines.descriptions import pairs_of
from windlass.engines.labels import request_id
from windlass.errors import EngineRejected, OptionRefused
from windlass.google.compute import Compute
from windlass.google.session import Taken
from windlass.governance.network_plan import GLOBAL, ORDER, Piece, Wish, pieces
from windlass.governance.waiting import Pause, Waiting

NAT_ITEM = "cloud_nat_gateway_cap"
HOURS = 24
PER_SCOPE = frozenset({"subnetworks", "routers"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was, or would be, done about one piece."""

    done: str
    """`made`, `there`, `missing`, `removed` or `refused`."""
    scope: str
    collection: str
    name: str
    why: str = ""
    usd_per_day: float = 0.0
    """At most: a NAT costs by the machines that use it, up to a cap."""

    @property
    def place(self) -> str:
        """The region, or `global`."""
        return self.scope.rpartition("/")[2]


Tell = Callable[[Step], None]


class Network:
    """The networks of one project."""

    def __init__(self, compute: Compute, catalog: Catalog, *, pause: Pause, nonce: str) -> None:
        """`nonce` is another for each command."""
        self._compute = compute
        self._catalog = catalog
        self._nonce = nonce
        self._waiting = Waiting(compute, pause)

    def wish(self, regions: tuple[str, ...], machine: str | None) -> Wish:
        """What to make, from what the user said and what there is."""
        known = {zone.rpartition("-")[0] for zone in self._catalog.zones}
        for region in regions:
            if region not in known:
                raise OptionRefused(
                    f"there is no region {region}",
                    remedy="`windlass catalog offers` shows where machines are.",
                )
        wish = Wish(regions=regions, project=self._compute.project, taken=self._taken())
        return wish if machine is None else replace(wish, **self._for(machine, regions))

    def _for(self, name: str, regions: tuple[str, ...]) -> Mapping[str, Any]:
        machine = self._catalog.machines.get(name)
        if machine is None or machine.gpu_direct is None:
            all_types = self._catalog.machines.values()
            shown = sorted({one.name for one in all_types if one.gpu_direct})
            raise OptionRefused(
                f"{name} needs no networks of its own",
                remedy=f"Leave `--for` out; it is for {', '.join(shown)}.",
            )
        offers = self._catalog.offers(machine=name)
        zones = sorted({one.zone for one in offers if one.region in regions})
        return {"machine": machine, "zones": tuple(zones)}

    def planned(self, wish: Wish) -> list[Step]:
        """What `up` would do."""
        there = {(scope, collection, one["name"]) for scope, collection, one in self._ours()}
        return [
            self._step(
                one, "there" if (one.scope, one.collection, one.name) in there else "missing"
            )
            for one in pieces(wish)
        ]

    def up(self, wish: Wish, tell: Tell) -> None:
        """Make what is not there, telling of each piece."""
        for piece in pieces(wish):
            tell(self._step(piece, self._make(piece)))

    def _make(self, piece: Piece) -> str:
        found = self._compute.get(piece.scope, piece.collection, piece.name)
        if found is not None:
            if not pairs_of(str(found.get("description", ""))):
                raise EngineRejected(
                    f"{piece.name} is there already, and somebody else made it",
                    remedy=f"Rename or remove it: `gcloud compute {_noun(piece)} describe "
                    f"{piece.name}{_flag(piece.scope)}`.",
                )
            return "there"
        what = f"making {piece.name}"
        # Another each time: Google remembers an ask for a piece that has been removed since.
        part = f"{piece.scope}/{piece.collection}/{piece.name}/{self._nonce}"
        try:
            operation = self._compute.insert(
                piece.scope,
                piece.collection,
                piece.body,
                request_id=request_id(self._compute.project, part),
            )
        except Taken:
            return "there"  # Somebody was faster, or the answer was lost.
        self._waiting.until_done(piece.scope, operation, what=what)
        return "made"

    def show(self) -> list[Step]:
        """What is there."""
        return [
            self._shown("there", scope, collection, found)
            for scope, collection, found in self._found()
        ]

    def down(self, regions: tuple[str, ...], tell: Tell) -> None:
        """Remove what is there, or what is of these regions; what is in use is told of, and the
        rest goes on."""
        found = [
            one for one in self._found() if not regions or one[0].rpartition("/")[2] in regions
        ]
        for scope, collection, one in reversed(found):
            name = str(one["name"])
            try:
                operation = self._compute.delete(scope, collection, name)
                if operation is not None:
                    self._waiting.until_done(scope, operation, what=f"removing {name}")
            except EngineRejected as refused:
                step = self._shown("refused", scope, collection, one)
                tell(replace(step, why=refused.message))
                continue
            tell(self._shown("removed", scope, collection, one))

    def _found(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Everything of ours as (scope, collection, resource), in the order to make it."""
        return sorted(self._ours(), key=lambda one: (ORDER.index(one[1]), one[0], one[2]["name"]))

    def _ours(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for collection in ORDER:
            if collection in PER_SCOPE:
                rows = self._compute.everywhere(collection)
            else:
                rows = ((GLOBAL, one) for one in self._compute.listed(GLOBAL, collection))
            for scope, one in rows:
                if pairs_of(str(one.get("description", ""))).get("piece"):
                    yield scope, collection, one

    def _taken(self) -> dict[str, list[str]]:
        taken: dict[str, list[str]] = {}
        for _, one in self._compute.everywhere("subnetworks"):
            network = str(one.get("network", "")).rpartition("/")[2]
            taken.setdefault(network, []).append(str(one["ipCidrRange"]))
        return taken

    def _step(self, piece: Piece, done: str) -> Step:
        return Step(
            done=done,
            scope=piece.scope,
            collection=piece.collection,
            name=piece.name,
            why=piece.why,
            usd_per_day=self.nat_usd_per_day() if piece.has_nat else 0.0,
        )

    def _shown(self, done: str, scope: str, collection: str, one: Mapping[str, Any]) -> Step:
        return Step(
            done=done,
            scope=scope,
            collection=collection,
            name=str(one["name"]),
            usd_per_day=self.nat_usd_per_day() * len(one.get("nats") or ()),
        )

    def nat_usd_per_day(self) -> float:
        """What one NAT costs at the most, without what flows through it."""
        price = self._catalog.other_prices.find(NAT_ITEM, "any")
        return price.usd * HOURS if price else 0.0


def _noun(piece: Piece) -> str:
    nouns = {"subnetworks": "networks subnets", "firewalls": "firewall-rules"}
    return nouns.get(piece.collection, piece.collection)


def _flag(scope: str) -> str:
    region = scope.rpartition("/")[2]
    return f" --region {region}" if region != GLOBAL else ""
