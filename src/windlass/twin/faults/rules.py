"""Which calls go wrong, how, how often and when: the rules of the faults at the door.

Must not answer anything: it says which rule strikes.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

SPAN = float(1 << 64)


class Kind(StrEnum):
    """What happens to a call."""

    ERROR = "error"
    """It is refused, and nothing was done."""
    LATENCY = "latency"
    """It only takes longer."""
    LOST_REQUEST = "lost-request"
    """It never arrives."""
    LOST_REPLY = "lost-reply"
    """It is carried out, and nobody hears of it."""
    STALE_LIST = "stale-list"
    """A list is shown as it was a while ago."""
    LATE_FAILURE = "operation-fails-late"
    """Its operation runs for a while and then ends in an error."""
    CUT_UPLOAD = "cut-upload"
    """The connection breaks after so many bytes of its body."""


ON_THE_WAY_IN = frozenset({Kind.ERROR, Kind.LATENCY, Kind.LOST_REQUEST, Kind.CUT_UPLOAD})


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """What befalls calls of some methods. Times are moments of the twin's clock."""

    method: str = "*"
    """A pattern for Google's method ids: `compute.instances.*`."""
    kind: Kind = Kind.ERROR
    status: int = 503
    retry_after_s: float | None = None
    share: float = 1.0
    """The probability that a call is struck."""
    count: int | None = None
    """So many calls are struck, then no more; None for any number."""
    since: float = 0.0
    until: float | None = None
    latency_s: float = 0.0
    behind_s: float = 30.0
    """How old a stale list is."""
    after_s: float = 5.0
    """How long an operation runs before it fails."""
    after_bytes: int = 1 << 20
    """How many bytes of an upload arrive."""
    code: str = "INTERNAL_ERROR"
    """Of the error in an operation that fails late."""
    message: str = ""
    """In place of Google's usual words."""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class FaultRules:
    """All rules of a twin. They outlive a restart, and so does how often each has struck."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._shelf = cloud.documents("faults.rules")
        self._rules = [(key, _rule(kept)) for key, kept in self._shelf.items()]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def add(self, rule: FaultRule) -> str:
        """A rule holds from now on; its id."""
        rule_id = f"rule-{self._cloud.new_id()[-6:]}"
        # Draws come from this number and not from the common chance, so that a rule strikes the
        # same calls whatever else happens in between.
        salt = self._cloud.chance.random()
        self._shelf.put(rule_id, {**rule.document(), "salt": salt, "seen": 0, "struck": 0})
        self._rules.append((rule_id, rule))
        return rule_id

    def clear(self) -> int:
        """No rule holds any more; how many did."""
        count = len(self._rules)
        for key, _ in self._rules:
            self._shelf.drop(key)
        self._rules = []
        return count

    def documents(self) -> list[dict[str, Any]]:
        """Every rule with how often it has struck."""
        found = []
        for key, _ in self._rules:
            kept = dict(self._shelf.get(key) or {})
            kept.pop("salt", None)
            found.append({"id": key, **kept})
        return found

    def striking(self, method: str, kinds: frozenset[Kind]) -> list[FaultRule]:
        """The rules that strike this call, in the order they were made. Counts it."""
        now = self._cloud.clock.now()
        return [
            rule
            for key, rule in self._rules
            if rule.kind in kinds
            and rule.since <= now
            and (rule.until is None or now < rule.until)
            and fnmatchcase(method, rule.method)
            and self._strikes(key, rule)
        ]

    def _strikes(self, key: str, rule: FaultRule) -> bool:
        kept = self._shelf.get(key)
        assert kept is not None
        if rule.count is not None and kept["struck"] >= rule.count:
            return False
        kept["seen"] += 1
        is_struck = _draw(f"{kept['salt']}:{kept['seen']}") < rule.share
        kept["struck"] += is_struck
        self._shelf.put(key, kept)
        return is_struck


def _draw(text: str) -> float:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / SPAN


def _rule(kept: dict[str, Any]) -> FaultRule:
    fields = {name: kept[name] for name in FaultRule.__slots__ if name in kept}
    return FaultRule(**{**fields, "kind": Kind(fields["kind"])})
