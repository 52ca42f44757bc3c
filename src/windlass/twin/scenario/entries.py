"""The entries of a scenario: which keys each has, and what it comes to.

Must not open files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import yaml

from windlass.twin.faults.rules import FaultRule, Kind
from windlass.twin.market import NEVER, Rule
from windlass.twin.scenario import values
from windlass.twin.scenario.model import Planned, QuotaLimit
from windlass.twin.scenario.reading import File, Parser

if TYPE_CHECKING:
    from windlass.twin.scenario.values import Names

SPAN: Mapping[str, Parser] = {"from": values.duration, "until": values.duration}
RULE: Mapping[str, Parser] = {
    **SPAN,
    "method": values.text,
    "kind": values.one_of(*(kind.value for kind in Kind)),
    "error": values.status,
    "retry_after": values.duration,
    "share": values.share,
    "count": values.whole,
    "latency": values.duration,
    "behind": values.duration,
    "after": values.duration,
    "after_bytes": values.size,
    "code": values.text,
    "message": values.text,
}
RULE_FIELDS = {
    "from": "since",
    "until": "until",
    "error": "status",
    "retry_after": "retry_after_s",
    "latency": "latency_s",
    "behind": "behind_s",
    "after": "after_s",
}
INCIDENTS = (
    "fail_resize",
    "preempt",
    "fail",
    "maintenance",
    "stockout",
    "api_off",
    "api_on",
    "deny",
    "permit",
    "quota",
)

REQUIRED = {"stockout": ("for",), "quota": ("limit",)}


class Entries:
    """Reads entries of one file."""

    def __init__(self, file: File, names: Names) -> None:
        self._file = file
        self._names = names
        self._place: Mapping[str, Parser] = {
            **SPAN,
            "zone": names.zone,
            "what": names.kind,
            "model": values.model,
        }

    def capacity(self, node: yaml.Node) -> Rule:
        """How many machines of a kind fit."""
        parsers = {**self._place, "room": values.whole}
        found = self._file.fields(node, parsers, required=("room",))
        return Rule(room=found.pop("room", None), **self._market(node, found))

    def hazard(self, node: yaml.Node) -> Rule:
        """How often spot machines of a kind are taken back."""
        parsers = {**self._place, "per_hour": values.number}
        found = self._file.fields(node, parsers, required=("per_hour",))
        return Rule(hazard_per_h=found.pop("per_hour", None), **self._market(node, found))

    def quota(self, node: yaml.Node) -> QuotaLimit:
        """How much may be used."""
        parsers = {"metric": values.text, "where": values.text, "limit": values.number}
        found = self._file.fields(node, parsers, required=("metric", "limit"))
        where = found.get("where", "*")
        return QuotaLimit(where, found.get("metric", ""), found.get("limit", 0.0))

    def denied(self, node: yaml.Node) -> tuple[str, str]:
        """What nobody, or somebody, may do."""
        if isinstance(node, yaml.ScalarNode):
            return "*", str(node.value)
        parsers = {"permission": values.text, "member": values.text}
        found = self._file.fields(node, parsers, required=("permission",))
        return found.get("member", "*"), found.get("permission", "")

    def rule(self, node: yaml.Node) -> FaultRule:
        """What befalls calls."""
        found = self._file.fields(node, RULE, required=("method",))
        self._check_span(node, found)
        if "kind" not in found:
            found["kind"] = Kind.ERROR if "error" in found else Kind.LATENCY
            said = {name for name, _, _ in self._file.pairs(node)}
            if not said & {"kind", "error", "latency"}:
                message = "it says neither an error nor a latency nor another kind"
                self._file.note(node, message, "Add `error: 503`, `latency: 2s` or `kind: …`.")
        found["kind"] = Kind(found["kind"])
        return FaultRule(**{RULE_FIELDS.get(name, name): one for name, one in found.items()})

    def planned(self, node: yaml.Node, *, is_now: bool = False) -> Planned:
        """Something that will happen; `is_now` for what happens at once."""
        what = self._what(node)
        parsers = self._incident(what)
        if not is_now:
            parsers |= {"at": values.duration, "after": values.duration}
        found = self._file.fields(node, parsers, required=REQUIRED.get(what, ()))
        at, after = found.pop("at", None), found.pop("after", None)
        times = [name for name, _, _ in self._file.pairs(node) if name in ("at", "after")]
        if not is_now and len(times) != 1 and what:
            remedy = "Write `at: 90s` (since the beginning) or `after: 90s` (since it runs)."
            self._file.note(node, "it says not when, or twice", remedy)
        if after is not None and what not in ("preempt", "fail", "maintenance"):
            self._file.note(node, f"{what} waits for no machine", "Write `at: …`.")
        return Planned(_incident_of(what, found), at=at, after=after)

    def _what(self, node: yaml.Node) -> str:
        names = [name for name, _, _ in self._file.pairs(node) if name in INCIDENTS]
        if len(names) != 1:
            self._file.note(
                node,
                "it must say what happens, once" if names else "it does not say what happens",
                f"Give one of {', '.join(INCIDENTS)}.",
            )
            return ""
        return names[0]

    def _incident(self, what: str) -> dict[str, Parser]:
        own: dict[str, dict[str, Parser]] = {
            "maintenance": {"notice": values.duration},
            "stockout": {"for": values.duration, "zone": self._names.zone, "model": values.model},
            "deny": {"member": values.text},
            "permit": {"member": values.text},
            "quota": {"where": values.text, "limit": values.number},
        }
        main = self._names.kind if what == "stockout" else values.text
        names = {what: main} if what else dict.fromkeys(INCIDENTS, values.text)
        return {**names, **own.get(what, {})}

    def _market(self, node: yaml.Node, found: dict[str, Any]) -> dict[str, Any]:
        self._check_span(node, found)
        since, until = found.pop("from", 0.0), found.pop("until", NEVER)
        return {**found, "since": since, "until": until}

    def _check_span(self, node: yaml.Node, found: Mapping[str, Any]) -> None:
        if found.get("until", NEVER) <= found.get("from", 0.0):
            self._file.note(node, "it ends before it begins", "Let `until` be later than `from`.")


def _incident_of(what: str, found: dict[str, Any]) -> dict[str, Any]:
    """As incidents are kept."""
    main = found.pop(what, "")
    key = {
        "stockout": "kind",
        "api_off": "service",
        "api_on": "service",
        "deny": "permission",
        "permit": "permission",
        "quota": "metric",
    }.get(what, "name")
    return {"what": what.replace("_", "-"), key: main, **found}
