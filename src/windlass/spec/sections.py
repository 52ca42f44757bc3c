"""The sections of a spec: resources, where, work, limits, checkpoint, engine, secrets.

Must not read files. Each function takes a section's reader and returns its frozen value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from windlass.spec import keys, names, units
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Checkpoint, Limits, Resources, Where, Work
from windlass.spec.plain import plain_value
from windlass.spec.problems import Place
from windlass.spec.reader import Reader
from windlass.spec.refused import Refused, quoted
from windlass.spec.suggest import did_you_mean
from windlass.spec.tree import Listing, Table

NODES_MAX = 10_000
STEPS_MAX = 10**15
RESTARTS_MAX = 1_000_000
RACE_MAX = 32
KEEP_MAX = 1_000_000
CPUS_MAX = 10_000

BUYS = ("flex-start", "spot", "on-demand")
RESERVATION = "reservation/"
_RESERVATION_NAME = r"[a-z0-9][a-z0-9/_.:-]{0,255}"
STORES = ("gs", "s3", "file")


def section(reader: Reader, key: str, allowed: tuple[str, ...]) -> Reader | None:
    """A reader for the mapping under the key, or None when there is none."""
    table = reader.inner(key)
    if table is None:
        return None
    return Reader(
        table, reader.problems, title=f"`{key}`", keys=allowed, elsewhere=_elsewhere(key, allowed)
    )


def _elsewhere(key: str, allowed: tuple[str, ...]) -> Mapping[str, str]:
    """Synonyms that mean a key of this section, without the section's name before them."""
    prefix = f"{key}."
    return {
        synonym: meant.removeprefix(prefix)
        for synonym, meant in keys.SYNONYMS.items()
        if meant.startswith(prefix) and synonym not in allowed
    }


def read_resources(reader: Reader | None) -> Resources:
    """What each node must have."""
    if reader is None:
        return Resources()
    nodes = reader.scalar("nodes", partial(units.whole_range, low=1, high=NODES_MAX))
    return Resources(
        accelerators=reader.each("accelerators", accelerators),
        nodes_min=nodes[0] if nodes else 1,
        nodes_max=nodes[1] if nodes else 1,
        cpus=reader.scalar("cpus", _cpus),
        memory_bytes=reader.scalar("memory", units.size_bytes),
        disk_bytes=reader.scalar("disk", units.size_bytes),
        machine=reader.scalar("machine", names.machine_name),
    )


def _cpus(text: str) -> float:
    value = units.positive_number(text)
    if value > CPUS_MAX:
        message = f"{quoted(text)} CPUs are more than any node has"
        raise Refused("out-of-range", message, remedy=f"Write at most {CPUS_MAX}.")
    return value


def read_where(reader: Reader | None) -> Where:
    """Where the run may go and how it may be bought."""
    if reader is None:
        return Where()
    race = reader.scalar("race", partial(units.whole_number, low=1, high=RACE_MAX))
    return Where(
        engines=reader.each("engines", names.engine_name),
        regions=reader.each("regions", names.region_pattern),
        buy=reader.each("buy", buy),
        race=race or 1,
    )


def buy(text: str) -> str:
    """One way to buy machines."""
    if text.startswith(RESERVATION):
        name = text.removeprefix(RESERVATION)
        if re.fullmatch(_RESERVATION_NAME, name):
            return text
        remedy = "Write reservation/ and its name, such as reservation/my-block."
        raise Refused("bad-buy", f"{quoted(text)} names no reservation", remedy=remedy)
    if text not in BUYS:
        ways = (*BUYS, "reservation/<name>")
        remedy = did_you_mean(text, BUYS, otherwise=f"Ways to buy: {', '.join(ways)}.")
        raise Refused("bad-buy", f"{quoted(text)} is not a way to buy machines", remedy=remedy)
    return text


def read_work(reader: Reader | None) -> Work | None:
    """How much there is to do."""
    if reader is None:
        return None
    reference = section(reader, "reference", keys.REFERENCE)
    whole = partial(units.whole_number, low=1)
    work = Work(
        steps=reader.scalar("steps", partial(whole, high=STEPS_MAX)),
        params=reader.scalar("params", units.positive_number),
        tokens=reader.scalar("tokens", units.positive_number),
    )
    _check_work(reader)
    if reference is None:
        return work
    reference.require("accelerators", example="A100-80:8")
    reference.require("step_seconds", example="1.9")
    return Work(
        steps=work.steps,
        params=work.params,
        tokens=work.tokens,
        reference_accelerators=reference.scalar("accelerators", accelerators),
        reference_nodes=reference.scalar("nodes", partial(whole, high=NODES_MAX)) or 1,
        reference_step_s=reference.scalar("step_seconds", units.positive_number),
    )


def _check_work(reader: Reader) -> None:
    has_size = reader.has("params") and reader.has("tokens")
    if reader.has("params") != reader.has("tokens"):
        missing = "tokens" if reader.has("params") else "params"
        message = f"`work` needs `{missing}` as well"
        reader.add(
            "work-incomplete", reader.table, message=message, remedy=f"Add `{missing}: 2e11`."
        )
    elif not reader.has("steps") and not has_size:
        remedy = "Give `steps`, or `params` and `tokens`."
        message = "`work` does not say how much there is to do"
        reader.add("work-incomplete", reader.table, message=message, remedy=remedy)
    elif reader.has("reference") and not reader.has("steps"):
        message = "`reference` tells how long a step takes, but there are no `steps`"
        place = reader.place("reference")
        reader.add("work-incomplete", place, message=message, remedy="Add `steps`.")


def read_limits(reader: Reader | None) -> Limits:
    """When to stop trying."""
    if reader is None:
        return Limits()
    deadline_s = reader.scalar("deadline", units.positive_duration_s)
    ttl_s = reader.scalar("ttl", units.positive_duration_s)
    restarts = reader.scalar("restarts", partial(units.whole_number, low=0, high=RESTARTS_MAX))
    if deadline_s is not None and ttl_s is not None and deadline_s > ttl_s:
        reader.add(
            "deadline-after-ttl",
            reader.place("deadline"),
            message=f"the deadline ({units.duration_text(deadline_s)}) is after the run is "
            f"stopped for good (ttl, {units.duration_text(ttl_s)})",
            remedy="Make `ttl` at least as long as `deadline`.",
        )
    return Limits(
        deadline_s=deadline_s,
        budget_usd=reader.scalar("budget", units.money_usd),
        restarts=Limits().restarts if restarts is None else restarts,
        ttl_s=ttl_s,
    )


def read_checkpoint(reader: Reader | None) -> Checkpoint | None:
    """Where checkpoints go, how often, and how many are kept."""
    if reader is None:
        return None
    keep = reader.scalar("keep", partial(units.whole_number, low=1, high=KEEP_MAX))
    every = reader.scalar("every", _every_s)
    return Checkpoint(
        to=reader.scalar("to", store_url),
        every_s=every or None,
        keep=Checkpoint().keep if keep is None else keep,
    )


def _every_s(text: str) -> float:
    """Seconds; 0 for `auto`, since None would say that there was a problem."""
    return 0.0 if text == "auto" else units.positive_duration_s(text)


def store_url(text: str) -> str:
    """A place that can be written to: a path, or a URL of a known kind."""
    scheme, separator, rest = text.partition("://")
    if not text.strip() or (separator and not rest):
        message = f"{quoted(text)} names no place"
        raise Refused("bad-url", message, remedy="Write a path, or a URL such as gs://bucket/ckpt.")
    if separator and scheme not in STORES:
        known = ", ".join(f"{store}://" for store in STORES)
        remedy = did_you_mean(scheme, STORES, otherwise=f"Write a path, or a URL with {known}.")
        raise Refused("bad-url", f"{quoted(text)}: `{scheme}://` is not known", remedy=remedy)
    return text


def read_engine(reader: Reader) -> dict[str, Mapping[str, Any]]:
    """Options that only one engine knows, by engine."""
    found: dict[str, Mapping[str, Any]] = {}
    for key, node in reader.pairs("engine"):
        name = reader.converted(key, "engine", names.engine_name)
        if not isinstance(node, Table):
            message = f"the options of {quoted(key.text)} must be a mapping"
            remedy = f"Write `{names.slug(key.text)}: {{option: value}}`."
            reader.add("wrong-type", node, message=message, remedy=remedy)
        elif name is not None:
            found[name] = plain_value(node, reader)
    return found


def read_secrets(reader: Reader, env: Mapping[str, str]) -> dict[str, str]:
    """Name in the environment to name at the source, from a list or a mapping."""
    node = reader.node("secrets")
    places: dict[str, Place] = {}
    if isinstance(node, Listing):
        listed = reader.each("secrets", names.variable_name)
        found = {name: name for name in listed}
        places = {getattr(item, "text", ""): item for item in node.items}
    else:
        found = reader.named("secrets", names.variable_name, value=_source)
        places = {key.text: key for key, _ in reader.pairs("secrets")} if found else {}
    for name in found:
        if name in env:
            message = f"{quoted(name)} is both a secret and in `env`"
            reader.add("secret-in-env", places[name], message=message, remedy="Keep one of them.")
    return found


def _source(text: str) -> str:
    if not text.strip() or not text.isprintable():
        message = f"{quoted(text)} names no secret"
        raise Refused("bad-secret", message, remedy="Write the name the secret has at its source.")
    return text
