"""What Google has to rent, where and when, and how often it takes spot machines back.

Must not start or end machines (the fleet does). Without rules there is always room and nothing is
taken back.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

PLENTY = 10**9
NEVER = float("inf")


class Model(StrEnum):
    """How a machine is provisioned, in Google's words."""

    STANDARD = "STANDARD"
    SPOT = "SPOT"
    FLEX_START = "FLEX_START"
    RESERVED = "RESERVATION_BOUND"


class Wanted(NamedTuple):
    """A kind of machine in a zone."""

    zone: str
    type: str
    """Machine type, or accelerator type of a TPU slice."""
    chip: str
    """As Google names the accelerator, or empty."""
    chips: int
    model: Model

    @property
    def region(self) -> str:
        """The region of the zone."""
        return self.zone.rpartition("-")[0]


class Rule(NamedTuple):
    """What holds for the kinds that it matches, from one moment until another."""

    zone: str = "*"
    """A pattern: `us-central1-*`."""
    what: str = "*"
    """A pattern for the machine type or the accelerator's name."""
    model: str = "*"
    since: float = 0.0
    until: float = NEVER
    room: int | None = None
    """So many machines fit in each zone; None says nothing about that."""
    hazard_per_h: float | None = None
    """How often one machine is taken back; None says nothing about that."""
    reason: str = ""
    is_closed: bool = False
    """Nothing more fits, and what runs stays: a stockout."""

    def matches(self, wanted: Wanted) -> bool:
        """Whether it speaks about that kind."""
        return (
            fnmatchcase(wanted.zone, self.zone)
            and (fnmatchcase(wanted.type, self.what) or fnmatchcase(wanted.chip, self.what))
            and fnmatchcase(wanted.model.value, self.model)
        )


class Standing(NamedTuple):
    """What all rules together say about a kind, from one moment until another."""

    since: float
    until: float
    most: int
    """So many more fit, however many there are."""
    room: int | None
    """So many fit in all; None where nothing is said about that."""
    hazard_per_h: float


class Market:
    """Room and hazard by kind. Of several rules that hold, the scarcest room and the highest
    hazard count."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._rules = cloud.documents("market.rules")
        self._used: Counter[Wanted] = Counter()
        self._standing: dict[Wanted, Standing] = {}

    def add(self, rule: Rule) -> str:
        """A rule holds from now on; its id."""
        rule_id = self._cloud.new_id()
        self._rules.put(rule_id, _document(rule))
        self._standing.clear()
        for moment in (rule.since, rule.until):
            if moment != NEVER:
                self._cloud.at(max(moment, self._cloud.clock.now()), "market.changed", rule_id)
        return rule_id

    def remove(self, rule_id: str) -> None:
        """A rule holds no more."""
        self._rules.drop(rule_id)
        self._standing.clear()
        self._cloud.later(0.0, "market.changed", rule_id)

    def rules(self) -> list[Rule]:
        """All that were added, in order."""
        return [_rule(document) for _, document in self._rules.items()]

    def room(self, wanted: Wanted) -> int:
        """How many more fit; negative when some have to go."""
        standing = self._standing_of(wanted)
        if standing.room is None:
            return standing.most
        # A limit is for everything that its rule matches; kinds are limited one by one.
        return min(standing.most, standing.room - self._used[wanted])

    def hazard_per_h(self, wanted: Wanted) -> float:
        """How often one such machine is taken back."""
        return self._standing_of(wanted).hazard_per_h

    def take(self, wanted: Wanted, count: int = 1) -> None:
        """So many machines of that kind are used, or held."""
        self._used[wanted] += count

    def give_back(self, wanted: Wanted) -> None:
        """One less."""
        self._used[wanted] -= 1

    def kinds_in_use(self) -> list[Wanted]:
        """In a fixed order."""
        return sorted(kind for kind, count in self._used.items() if count > 0)

    def _standing_of(self, wanted: Wanted) -> Standing:
        now = self._cloud.clock.now()
        standing = self._standing.get(wanted)
        if standing is None or not standing.since <= now < standing.until:
            rules = [rule for rule in self.rules() if rule.matches(wanted)]
            standing = self._standing[wanted] = _standing(rules, now)
        return standing


def _standing(rules: list[Rule], now: float) -> Standing:
    holding = [rule for rule in rules if rule.since <= now < rule.until]
    changes = {moment for rule in rules for moment in (rule.since, rule.until)}
    limits = [rule.room for rule in holding if rule.room is not None]
    return Standing(
        since=now,
        until=min((moment for moment in changes if moment > now), default=NEVER),
        most=0 if any(rule.is_closed for rule in holding) else PLENTY,
        room=min(limits, default=None),
        hazard_per_h=max((rule.hazard_per_h for rule in holding if rule.hazard_per_h), default=0.0),
    )


def _document(rule: Rule) -> dict[str, Any]:
    document = rule._asdict()
    if rule.until == NEVER:
        del document["until"]
    return document


def _rule(document: dict[str, Any]) -> Rule:
    return Rule(**document)
