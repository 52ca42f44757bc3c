"""The documents that are shipped say what Google's own say."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import lzma
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tree
from windlass.twin.discovery.documents import DATA, available, document, enum_table, merged

KEYS = [f"{name}.{version}" for name, versions in available().items() for version in versions]
BY_HAND = frozenset({"cloudquotas.v1", "cloudquotas.v1beta", "cloudquotas.v1alpha"})
"""Google publishes no document of these."""
SOURCE = "2.202.0"
"""The google-api-python-client that they were cut from."""
LARGEST = 400_000
OF_PARAMETER = ("location", "type", "format", "required", "enum", "pattern", "repeated")
OF_FIELD = ("type", "format", "enum", "pattern", "$ref")


@pytest.fixture(scope="module")
def full() -> Path:
    """The folder of the full documents."""
    found = importlib.util.find_spec("googleapiclient")
    if found is None or found.origin is None:
        pytest.skip("google-api-python-client is not installed")
    installed = importlib.metadata.version("google-api-python-client")
    if installed != SOURCE:
        pytest.skip(f"google-api-python-client is {installed}, the documents are of {SOURCE}")
    return Path(found.origin).parent / "discovery_cache" / "documents"


def methods(level: dict) -> Iterator[dict]:
    yield from level.get("methods", {}).values()
    for resource in level.get("resources", {}).values():
        yield from methods(resource)


def schema_facts(schema: dict, at: str) -> Iterator[tuple]:
    for key in OF_FIELD:
        yield at, key, json.dumps(schema.get(key))
    for name, field in schema.get("properties", {}).items():
        yield from schema_facts(field, f"{at}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from schema_facts(schema[key], f"{at}.{key}()")


def parameter_facts(parameters: dict) -> list[tuple]:
    return [
        (name, key, json.dumps(parameters[name].get(key)))
        for name in sorted(parameters)
        for key in OF_PARAMETER
    ]


@pytest.mark.parametrize("key", [key for key in KEYS if key not in BY_HAND])
def test_methods_and_schemas_agree_with_the_full_document(key, full):
    theirs, ours = json.loads((full / f"{key}.json").read_bytes()), document(key)
    assert ours["revision"] == theirs["revision"]
    for fact in ("name", "version", "rootUrl", "servicePath", "batchPath"):
        assert ours[fact] == theirs[fact]
    assert parameter_facts(ours["parameters"]) == parameter_facts(theirs["parameters"])
    listed = {method["id"]: method for method in methods(theirs)}
    assert sorted(ours["methods"]) == sorted(listed)
    for method_id, method in listed.items():
        kept = ours["methods"][method_id]
        assert kept["httpMethod"] == method["httpMethod"]
        assert kept["path"] == method["path"]
        assert kept.get("flatPath", kept["path"]) == method.get("flatPath", method["path"])
        assert kept.get("request") == method.get("request", {}).get("$ref")
        assert kept.get("response") == method.get("response", {}).get("$ref")
        uploads = method.get("mediaUpload", {}).get("protocols", {})
        assert kept.get("upload", {}) == {name: each["path"] for name, each in uploads.items()}
        assert parameter_facts(kept["parameters"]) == parameter_facts(method.get("parameters", {}))
    assert sorted(ours["schemas"]) == sorted(theirs["schemas"])
    for name, schema in theirs["schemas"].items():
        assert set(schema_facts(ours["schemas"][name], name)) == set(schema_facts(schema, name))


def test_the_script_makes_what_is_shipped(full, tmp_path):
    script = tree.ROOT / "scripts" / "trim_discovery.py"
    source = full.parent.parent.parent
    command = [sys.executable, script, source, "--to", tmp_path]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    made = {path.name: lzma.decompress(path.read_bytes()) for path in tmp_path.iterdir()}
    shipped = {path.name: lzma.decompress(path.read_bytes()) for path in DATA.glob("*.xz")}
    assert made == shipped


def test_the_documents_are_small_and_without_prose():
    assert sum(path.stat().st_size for path in DATA.iterdir()) < LARGEST
    for key in ("compute.v1", "storage.v1", "tpu.v2alpha1"):
        facts = {name for each in document(key)["methods"].values() for name in each}
        assert not facts & {"description", "scopes", "deprecated"}


def test_a_version_that_is_stored_as_a_difference_is_whole():
    beta = document("compute.beta")
    assert (beta["name"], beta["version"], beta["servicePath"]) == (
        "compute",
        "beta",
        "compute/beta/",
    )
    assert len(beta["methods"]) > len(document("compute.v1")["methods"])


def test_a_difference_adds_changes_and_removes():
    base = {"a": 1, "b": {"c": 2, "d": 3}, "e": 4}
    patch = {"a": [5], "b": {"c": None, "f": {}}, "e": None}
    assert merged(base, patch) == {"a": [5], "b": {"d": 3, "f": {}}}


def test_the_licence_of_the_documents_is_named():
    readme = (DATA / "README.md").read_text()
    assert "Apache License, Version 2.0" in readme
    assert SOURCE in readme


def test_enum_numbers_are_of_apis_that_are_shipped():
    assert set(enum_table()) <= set(KEYS)
