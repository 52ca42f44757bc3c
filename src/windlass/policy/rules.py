"""Whether a spec keeps to the platform team's policy, and what the policy fills in.

Must not know any engine by name, nor read files. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from windlass.policy.document import RESERVATION, Policy
from windlass.spec.model import Spec
from windlass.spec.units import duration_text, money_text

DEFAULT_ACCOUNT = ("", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One way in which a spec breaks the policy."""

    code: str
    key: tuple[str, ...]
    """Where in the spec; the place is that of what is there of it."""
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What decides besides the spec."""

    engines: tuple[str, ...]
    """Those that may run it, by the spec or the configuration."""
    renting: frozenset[str]
    """Those of them that rent."""
    defaults: Mapping[str, Mapping[str, Any]]
    """The configuration's options of engines, under those of the spec."""

    @property
    def rented(self) -> tuple[str, ...]:
        """Engines that rent for this spec."""
        return tuple(name for name in self.engines if name in self.renting)


def filled(spec: Spec, policy: Policy, about: Circumstances) -> Spec:
    """The spec with what it leaves open taken from the policy: regions, ways to buy, the key."""
    where = spec.where
    if policy.regions and not where.regions:
        where = replace(where, regions=policy.regions)
    ways = tuple(way for way in policy.buy if way != RESERVATION)
    if ways and not where.buy:
        where = replace(where, buy=ways)
    engine = {name: dict(options) for name, options in spec.engine.items()}
    if policy.kms_key:
        for name in about.rented:
            if not about.defaults.get(name, {}).get("kms_key"):
                engine.setdefault(name, {}).setdefault("kms_key", policy.kms_key)
    return replace(spec, where=where, engine=engine)


def breaches(spec: Spec, policy: Policy, about: Circumstances) -> list[Breach]:
    """Every way in which it breaks the policy."""
    found = [*_name(spec, policy), *_labels(spec, policy), *_engines(policy, about)]
    if about.rented:
        found += [*_where(spec, policy), *_limits(spec, policy), *_options(spec, policy, about)]
    return found


def _name(spec: Spec, policy: Policy) -> Iterator[Breach]:
    if policy.name_pattern and not re.fullmatch(policy.name_pattern, spec.name):
        yield Breach(
            code="policy-name",
            key=("name",),
            message=f"the policy wants names that match `{policy.name_pattern}`",
            remedy="Rename the run.",
        )


def _labels(spec: Spec, policy: Policy) -> Iterator[Breach]:
    for label in policy.required_labels:
        if not spec.labels.get(label):
            choices = policy.label_values.get(label, ())
            example = choices[0] if choices else "…"
            yield Breach(
                code="policy-label-missing",
                key=("labels",),
                message=f"the policy wants a label `{label}`",
                remedy=f"Add `{label}: {example}` below `labels:`.",
            )
    for label, choices in policy.label_values.items():
        value = spec.labels.get(label)
        if value is not None and value not in choices:
            yield Breach(
                code="policy-label-value",
                key=("labels", label),
                message=f"the policy does not allow `{label}: {value}`",
                remedy=f"Use one of {', '.join(choices)}.",
            )


def _engines(policy: Policy, about: Circumstances) -> Iterator[Breach]:
    for name in about.engines:
        if policy.engines and name not in policy.engines:
            yield Breach(
                code="policy-engine",
                key=("where", "engines"),
                message=f"the policy does not allow the engine `{name}`",
                remedy=f"Use one of {', '.join(policy.engines)}.",
            )


def _where(spec: Spec, policy: Policy) -> Iterator[Breach]:
    for region in spec.where.regions if policy.regions else ():
        # A pattern is within another when the other matches it as it is written.
        if not _is_any(region, policy.regions):
            yield Breach(
                code="policy-region",
                key=("where", "regions"),
                message=f"the policy does not allow the region `{region}`",
                remedy=f"Use {', '.join(policy.regions)}, or leave `regions` out.",
            )
    for way in spec.where.buy if policy.buy else ():
        kind = way.partition("/")[0]
        if kind not in policy.buy:
            yield Breach(
                code="policy-buy",
                key=("where", "buy"),
                message=f"the policy does not allow to buy `{kind}`",
                remedy=f"Use one of {', '.join(policy.buy)}.",
            )


def _limits(spec: Spec, policy: Policy) -> Iterator[Breach]:
    limits = spec.limits
    most = policy.max_budget_usd
    if most is not None and (limits.budget_usd is None or limits.budget_usd > most):
        yield Breach(
            code="policy-budget",
            key=("limits", "budget"),
            message=f"the policy wants a budget of at most {money_text(most)}",
            remedy=f"Write `limits: {{budget: {money_text(most)}}}` or less.",
        )
    longest = policy.max_ttl_s
    if longest is not None and (limits.ttl_s is None or limits.ttl_s > longest):
        yield Breach(
            code="policy-ttl",
            key=("limits", "ttl"),
            message=f"the policy wants a ttl of at most {duration_text(longest)}",
            remedy=f"Write `limits: {{ttl: {duration_text(longest)}}}` or less.",
        )
    if policy.max_nodes is not None and spec.resources.nodes_max > policy.max_nodes:
        yield Breach(
            code="policy-nodes",
            key=("resources", "nodes"),
            message=f"the policy allows at most {policy.max_nodes} nodes",
            remedy=f"Ask for {policy.max_nodes} or fewer.",
        )


def _options(spec: Spec, policy: Policy, about: Circumstances) -> Iterator[Breach]:
    for name in about.rented:
        options = {**about.defaults.get(name, {}), **spec.engine.get(name, {})}
        key = ("engine", name)
        if options.get("external_address") and not policy.external_addresses:
            yield Breach(
                code="policy-external-address",
                key=(*key, "external_address"),
                message="the policy does not allow external addresses",
                remedy="Remove `external_address`; `windlass network up` gives machines a way out.",
            )
        account = str(options.get("service_account", ""))
        if policy.service_accounts and not _is_any(account, policy.service_accounts):
            shown = "the default account" if account in DEFAULT_ACCOUNT else f"`{account}`"
            yield Breach(
                code="policy-service-account",
                key=(*key, "service_account"),
                message=f"the policy does not allow machines to run as {shown}",
                remedy=f"Write `engine: {{{name}: {{service_account: …}}}}` with one of "
                f"{', '.join(policy.service_accounts)}.",
            )
        if policy.kms_key and options.get("kms_key", policy.kms_key) != policy.kms_key:
            yield Breach(
                code="policy-kms-key",
                key=(*key, "kms_key"),
                message="the policy wants disks encrypted with another key",
                remedy=f"Leave `kms_key` out, or write {policy.kms_key}.",
            )


def _is_any(text: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
