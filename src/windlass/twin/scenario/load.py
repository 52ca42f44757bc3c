"""Reads a scenario file, or refuses it with everything that is wrong.

Must not change a twin.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from windlass.errors import OptionRefused
from windlass.twin.faults.rules import FaultRule
from windlass.twin.market import Rule
from windlass.twin.scenario import values
from windlass.twin.scenario.entries import INCIDENTS, Entries
from windlass.twin.scenario.model import Planned, Scenario
from windlass.twin.scenario.reading import File, Wrong
from windlass.twin.scenario.traces import read_trace, rules_of
from windlass.twin.settings import DELAYS, Delays

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

T = TypeVar("T")
KEYS = (
    "project",
    "apis_off",
    "capacity",
    "hazard",
    "quotas",
    "denied",
    "api",
    "faults",
    "delays",
    "notice",
    "replay",
)


def load_scenario(path: Path, *, catalog: Catalog) -> Scenario:
    """Raises SpecInvalid with every problem, OptionRefused when there is no such file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as exc:
        raise OptionRefused(
            f"{path} cannot be read", remedy="Give a scenario file with `--scenario`."
        ) from exc
    file = File(str(path), text)
    reading = _Reading(file, folder=path.parent, catalog=catalog)
    return reading.scenario(hashlib.sha256(text.encode()).hexdigest())


def load_fault(document: Mapping[str, Any], *, catalog: Catalog) -> Planned | FaultRule:
    """One fault that is to happen now, or a rule for calls from now on."""
    file = File("fault", json.dumps(dict(document)))
    root = file.root()
    assert root is not None
    entries = Entries(file, values.Names(catalog))
    is_incident = any(name in INCIDENTS for name in document)
    found = entries.planned(root, is_now=True) if is_incident else entries.rule(root)
    file.raise_if_wrong()
    return found


class _Reading:
    def __init__(self, file: File, *, folder: Path, catalog: Catalog) -> None:
        self._file = file
        self._folder = folder
        self._names = values.Names(catalog)
        self._entries = Entries(file, self._names)

    def scenario(self, digest: str) -> Scenario:
        root = self._file.root()
        parts: dict[str, yaml.Node] = {}
        for name, key, value in self._file.pairs(root) if root is not None else ():
            if name in KEYS:
                parts[name] = value
            else:
                self._file.unknown(key, name, list(KEYS))
        entries = self._entries
        market = [*self._each(parts, "capacity", entries.capacity)]
        market += self._each(parts, "hazard", entries.hazard)
        market += [rule for rules in self._each(parts, "replay", self._replay) for rule in rules]
        scenario = Scenario(
            digest=digest,
            settings=self._settings(parts),
            apis_off=tuple(self._each(parts, "apis_off", self._api)),
            market=tuple(market),
            quotas=tuple(self._each(parts, "quotas", entries.quota)),
            denied=tuple(self._each(parts, "denied", entries.denied)),
            rules=tuple(self._each(parts, "api", entries.rule)),
            planned=tuple(self._each(parts, "faults", entries.planned)),
        )
        self._file.raise_if_wrong()
        return scenario

    def _each(
        self, parts: Mapping[str, yaml.Node], name: str, read: Callable[[yaml.Node], T]
    ) -> list[T]:
        node = parts.get(name)
        return [read(entry) for entry in self._file.entries(node)] if node is not None else []

    def _api(self, node: yaml.Node) -> str:
        return str(self._file.scalar(node, "an API") or "")

    def _settings(self, parts: Mapping[str, yaml.Node]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, parse in (("project", values.project), ("notice", values.duration)):
            text = self._file.scalar(parts[name], name) if name in parts else None
            if text is not None:
                self._try(parts[name], name, found, lambda parse=parse, text=text: parse(text))  # type: ignore[misc] # A lambda with defaults has no type that mypy knows.
        if "notice" in found:
            found["notice_s"] = found.pop("notice")
        if "delays" in parts:
            found["delays"] = self._delays(parts["delays"])
        return found

    def _delays(self, node: yaml.Node) -> dict[str, float]:
        if isinstance(node, yaml.ScalarNode):
            known = DELAYS.get(str(node.value))
            if known is None:
                choices = " or ".join(DELAYS)
                self._file.note(node, f"{node.value} are no delays", f"Write {choices}, or each.")
            chosen = known or Delays()
            return {one.name: getattr(chosen, one.name) for one in fields(Delays)}
        parsers = {one.name: values.duration for one in fields(Delays)}
        return self._file.fields(node, parsers)

    def _replay(self, node: yaml.Node) -> list[Rule]:
        zones: list[tuple[str, str, yaml.Node]] = []
        parsers = {
            "file": values.text,
            "what": self._names.kind,
            "model": values.model,
            "step": values.duration,
            "from": values.duration,
        }
        plain = []
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value == "zones":
                zones = [(name, str(one.value), one) for name, _, one in self._file.pairs(value)]
            else:
                plain.append((key, value))
        rest = yaml.MappingNode(node.tag, plain, node.start_mark, node.end_mark)
        found = self._file.fields(rest, parsers, required=("file", "what", "step"))
        if not zones:
            self._file.note(node, "it names no zones", "Add `zones: {us-central1-a: NAME}`.")
        if not {"file", "what", "step"} <= set(found):
            return []
        return [rule for zone in zones for rule in self._replayed(found, *zone)]

    def _replayed(
        self, found: Mapping[str, Any], zone: str, trace: str, node: yaml.Node
    ) -> list[Rule]:
        rules: dict[str, list[Rule]] = {}

        def read() -> list[Rule]:
            steps = read_trace(self._folder / found["file"], trace)
            place = Rule(
                zone=self._names.zone(zone), what=found["what"], model=found.get("model", "SPOT")
            )
            start = found.get("from", 0.0)
            return list(rules_of(steps, place, step_s=found["step"], start=start))

        self._try(node, "zones", rules, read)
        return rules.get("zones", [])

    def _try(
        self, node: yaml.Node, name: str, found: dict[str, Any], read: Callable[[], Any]
    ) -> None:
        try:
            found[name] = read()
        except Wrong as wrong:
            self._file.note(node, f"{name}: {wrong.message}", wrong.remedy)
