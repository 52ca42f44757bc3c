"""The platform team's `policy.yaml` as a frozen value, every problem with its line.

Must not judge a spec (rules.py does) nor look for the file: the caller knows where it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from windlass.spec import names, sections, units
from windlass.spec.document import read_bounded, read_node
from windlass.spec.problems import Problems
from windlass.spec.reader import Reader
from windlass.spec.refused import Refused, quoted
from windlass.spec.suggest import did_you_mean
from windlass.spec.tree import Table

KEYS = (
    "required_labels",
    "label_values",
    "name_pattern",
    "engines",
    "regions",
    "buy",
    "max_budget",
    "max_ttl",
    "max_nodes",
    "kms_key",
    "service_accounts",
    "external_addresses",
)
RESERVATION = "reservation"
BUYS = (*sections.BUYS, RESERVATION)
_REGION = r"[a-z0-9*-]+"
_KMS_KEY = r"projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+"
_ACCOUNT = r"[^@\s]+@[^@\s]+\.[^@\s]+|[*][^\s]*"
_DRAFT = "http://json-schema.org/draft-07/schema#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What runs must keep to. What is not said is allowed."""

    required_labels: tuple[str, ...] = ()
    label_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a label may be; labels that are not here may be anything."""
    name_pattern: str = ""
    """A regular expression that a run's whole name must match."""
    engines: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    """Patterns, as in a spec."""
    buy: tuple[str, ...] = ()
    max_budget_usd: float | None = None
    """Every run that rents must have a budget, and none above this."""
    max_ttl_s: float | None = None
    max_nodes: int | None = None
    kms_key: str = ""
    """The key that disks are encrypted with."""
    service_accounts: tuple[str, ...] = ()
    """Addresses, or patterns such as `*@my-project.iam.gserviceaccount.com`."""
    external_addresses: bool = True


NO_POLICY = Policy()


def load_policy(path: Path) -> Policy:
    """The policy in that file. Raises SpecInvalid with every problem, OptionRefused when there is
    no such file: a policy that cannot be read allows nothing."""
    return parse_policy(read_bounded(path), path=str(path))


def parse_policy(text: str | bytes, *, path: str) -> Policy:
    """The policy in that text. Raises SpecInvalid with every problem."""
    problems = Problems(path)
    node = read_node(text, problems, may_be_empty=True)
    if problems:
        raise problems.error()
    if node is None:
        return NO_POLICY
    if not isinstance(node, Table):
        message, remedy = "the file holds no `key: value` lines", f"Keys: {', '.join(KEYS)}."
        problems.add("not-a-mapping", node, message=message, remedy=remedy)
        raise problems.error()
    policy = _read(Reader(node, problems, title="a policy", keys=KEYS))
    if problems:
        raise problems.error()
    return policy


def _read(reader: Reader) -> Policy:
    external = reader.scalar("external_addresses", _allowed)
    return Policy(
        required_labels=reader.each("required_labels", names.label_key),
        label_values=_label_values(reader),
        name_pattern=reader.scalar("name_pattern", _pattern) or "",
        engines=reader.each("engines", names.engine_name),
        regions=reader.each("regions", partial(_matching, _REGION, "regions", "us-*")),
        buy=reader.each("buy", _buy),
        max_budget_usd=reader.scalar("max_budget", units.money_usd),
        max_ttl_s=reader.scalar("max_ttl", units.positive_duration_s),
        max_nodes=reader.scalar(
            "max_nodes", partial(units.whole_number, low=1, high=sections.NODES_MAX)
        ),
        kms_key=reader.scalar("kms_key", partial(_matching, _KMS_KEY, "a key", _KMS_EXAMPLE)) or "",
        service_accounts=reader.each(
            "service_accounts",
            partial(
                _matching, _ACCOUNT, "a service account", "*@my-project.iam.gserviceaccount.com"
            ),
        ),
        external_addresses=external is None or external == "allowed",
    )


_KMS_EXAMPLE = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"


def _label_values(reader: Reader) -> dict[str, tuple[str, ...]]:
    table = reader.inner("label_values")
    if table is None:
        return {}
    keys = [key.text for key, _ in table.pairs]
    inner = Reader(table, reader.problems, title="`label_values`", keys=keys)
    for key, _ in table.pairs:
        reader.converted(key, "label_values", names.label_key)
    return {key: inner.each(key, names.label_value) for key in keys}


def _allowed(text: str) -> str:
    choices = ("allowed", "forbidden")
    if text not in choices:
        remedy = did_you_mean(text, choices, otherwise="Write `allowed` or `forbidden`.")
        raise Refused("unknown-choice", f"{quoted(text)} is neither of both", remedy=remedy)
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as exc:
        message = f"{quoted(text)} is not a regular expression: {exc}"
        raise Refused("bad-pattern", message, remedy="Write one such as `[a-z]+-.*`.") from exc
    return text


def _matching(pattern: str, what: str, example: str, text: str) -> str:
    if not re.fullmatch(pattern, text, re.ASCII):
        message = f"{quoted(text)} does not name {what}"
        raise Refused("bad-value", message, remedy=f"Write it as `{example}`.")
    return text


def _buy(text: str) -> str:
    if text not in BUYS:
        remedy = did_you_mean(text, BUYS, otherwise=f"Use one of {', '.join(BUYS)}.")
        raise Refused("unknown-buy", f"there is no way to buy called {quoted(text)}", remedy=remedy)
    return text


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of `policy.yaml`, for editors."""

    def texts(description: str, **item: Any) -> dict[str, Any]:
        one = {"type": "string", **item}
        listed = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
        return {"description": description, "anyOf": [one, listed]}

    def text(description: str, **more: Any) -> dict[str, Any]:
        return {"description": description, "type": "string", **more}

    values = {"type": "object", "additionalProperties": texts("What the label may be.")}
    properties: dict[str, Any] = {
        "required_labels": texts("Labels that every run must have.", examples=["team"]),
        "label_values": {"description": "What these labels may be.", **values},
        "name_pattern": text("A regular expression that a run's whole name must match."),
        "engines": texts("Engines that may be used."),
        "regions": texts("Regions that may be used; `*` stands for anything.", examples=["us-*"]),
        "buy": texts("How machines may be bought.", enum=list(BUYS)),
        "max_budget": text(
            "Every run that rents has a budget, at most this.", examples=["5000 USD"]
        ),
        "max_ttl": text("Every run that rents has a ttl, at most this.", examples=["7d"]),
        "max_nodes": {"description": "Nodes of one run.", "type": "integer", "minimum": 1},
        "kms_key": text("The key that disks are encrypted with.", examples=[_KMS_EXAMPLE]),
        "service_accounts": texts("Accounts that machines may run as; patterns may be used."),
        "external_addresses": {
            "description": "Whether machines may have one.",
            "enum": ["allowed", "forbidden"],
            "default": "allowed",
        },
    }
    return {
        "$schema": _DRAFT,
        "$id": "https://windlass.dev/schema/policy.json",
        "title": "Windlass policy",
        "description": "What runs must keep to. What is not said is allowed.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
