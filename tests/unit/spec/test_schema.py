"""The schema an editor uses agrees with the loader, and both with the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import yaml

import tree
from windlass.errors import SpecInvalid
from windlass.spec import keys
from windlass.spec.config import parse_config
from windlass.spec.load import parse_spec
from windlass.spec.model import Launch
from windlass.spec.schema import config_schema, spec_schema

SECTIONS = {
    "": keys.SPEC,
    "resources": keys.RESOURCES,
    "where": keys.WHERE,
    "work": keys.WORK,
    "work.reference": keys.REFERENCE,
    "limits": keys.LIMITS,
    "checkpoint": keys.CHECKPOINT,
}

GOOD = {
    "smallest": "{}",
    "launch": "launch: jax",
    "program": "kind: train\nworkdir: .\nsetup: pip install .\nimage: a/b:1",
    "environment": "env: {A: text, B: 1, C: true, D: 0.10}",
    "secrets listed": "secrets: [A, B]",
    "secrets mapped": "secrets: {A: projects/p/secrets/a}",
    "one accelerator": "resources: {accelerators: H100:8, nodes: 4}",
    "several": "resources: {accelerators: [H100:8, v5e-16], nodes: 2..64}",
    "cpu run": "resources: {cpus: 4, memory: 16GiB, disk: 1.5TB, machine: n2-standard-4}",
    "where": "where: {engines: [local], regions: [us-*], buy: [reservation/a, spot], race: 2}",
    "engine": "engine: {slurm: {partition: a, nested: {list: [1, null]}}}",
    "work by steps": "work: {steps: 20000, reference: {accelerators: L4, step_seconds: 1.9}}",
    "work by size": "work: {params: 7e9, tokens: 2.0e+11}",
    "limits": "limits: {deadline: 1h30m, budget: $900, restarts: 0, ttl: 4d}",
    "euro-free money": "limits: {budget: 900.50 USD}",
    "checkpoint": "checkpoint: {to: gs://b/c, every: auto, keep: 3}",
    "checkpoint often": "checkpoint: {every: 10m}",
    "data": "data: {train: gs://bucket/shards/}",
    "labels": "labels: {team: nlp, year: 2026}",
}
BAD = {
    "launch": "launch: torch",
    "kind": "kind: serve",
    "duration": "limits: {ttl: 72}",
    "money": "limits: {budget: 900 EUR}",
    "size": "resources: {memory: 64}",
    "nodes": "resources: {nodes: 0}",
    "our variable": "env: {WINDLASS_RANK: 1}",
    "variable": "env: {1A: b}",
    "buy": "where: {buy: [cheap]}",
    "empty list": "where: {engines: []}",
    "restarts": "limits: {restarts: -1}",
    "keep": "checkpoint: {keep: 0}",
    "reference": "work: {steps: 3, reference: {nodes: 2}}",
    "label": "labels: {Team: nlp}",
    "engine": "engine: {slurm: text}",
}


def with_base(text: str) -> str:
    return f"name: a\nrun: b\n{'' if text == '{}' else text}\n"


def validate(text: str, schema: dict[str, Any] | None = None) -> None:
    document = yaml.load(text, Loader=yaml.SafeLoader)
    jsonschema.Draft7Validator(schema or spec_schema()).validate(document)


def sections_of(schema: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping with fixed keys in the schema, by the path of its key."""
    yield prefix, schema["properties"]
    for key, inner in schema["properties"].items():
        if "properties" in inner:
            yield from sections_of(inner, f"{prefix}.{key}".lstrip("."))


@pytest.mark.parametrize("schema", [spec_schema(), config_schema()], ids=["spec", "config"])
def test_a_schema_is_one(schema):
    jsonschema.Draft7Validator.check_schema(schema)


def test_schema_and_loader_know_the_same_keys():
    found = {path: set(properties) for path, properties in sections_of(spec_schema())}
    assert found == {path: set(names) for path, names in SECTIONS.items()}
    assert set(config_schema()["properties"]) == set(keys.CONFIG)


@pytest.mark.parametrize("schema", [spec_schema(), config_schema()], ids=["spec", "config"])
def test_every_key_is_described(schema):
    for path, properties in sections_of(schema):
        for key, inner in properties.items():
            assert inner.get("description", "").endswith("."), f"{path}.{key}"


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_what_the_loader_takes_the_schema_takes(text):
    parse_spec(with_base(text), path="s", folder=None)
    validate(with_base(text))


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_the_schema_refuses_the_loader_refuses(text):
    with pytest.raises(jsonschema.ValidationError):
        validate(with_base(text))
    with pytest.raises(SpecInvalid):
        parse_spec(with_base(text), path="s", folder=None)


@pytest.mark.parametrize(
    ("section", "key"), [(section, key) for section, names in SECTIONS.items() for key in names]
)
def test_a_misspelt_key_is_refused_by_both_and_the_right_one_is_suggested(section, key):
    text = f"{key}x: 1"
    for name in reversed(section.split(".") if section else []):
        text = f"{name}: {{{text}}}"
    with pytest.raises(jsonschema.ValidationError):
        validate(with_base(text))
    with pytest.raises(SpecInvalid) as caught:
        parse_spec(with_base(text), path="s", folder=None)
    found = [problem for problem in caught.value.problems if problem.code == "unknown-key"]
    assert len(found) == 1
    assert re.search(rf"`(\w+\.)?{key}`", found[0].remedy)


def test_the_schema_lists_every_launch():
    assert set(spec_schema()["properties"]["launch"]["enum"]) == {launch.value for launch in Launch}


@pytest.mark.parametrize("schema", [spec_schema(), config_schema()], ids=["spec", "config"])
def test_every_key_is_in_the_documentation(schema):
    page = tree.text("docs/spec.md")
    for path, properties in sections_of(schema):
        for key in properties:
            name = f"{path}.{key}".lstrip(".")
            assert f"`{name}`" in page, f"docs/spec.md does not name `{name}`"


def test_every_example_in_the_documentation_loads():
    page = tree.text("docs/spec.md")
    examples = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 3
    for text in examples:
        if "run_folder:" in text:
            parse_config(text, path="config.yaml")
            validate(text, config_schema())
        else:
            parse_spec(text, path="spec.yaml", folder=None)
            validate(text)
