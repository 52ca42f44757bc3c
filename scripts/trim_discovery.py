"""Cuts Google's discovery documents down to what the twin needs, and packs them.

Takes a wheel of google-api-python-client or a folder that has one installed. Must not keep prose;
the same documents always make the same bytes.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCUMENTS = """
compute.v1 compute.beta compute.alpha tpu.v1 tpu.v2 tpu.v2alpha1 aiplatform.v1 aiplatform.v1beta1
container.v1 container.v1beta1 storage.v1 batch.v1 cloudbilling.v1 billingbudgets.v1 logging.v2
monitoring.v3 serviceusage.v1 cloudresourcemanager.v1 cloudresourcemanager.v3 iam.v1
iamcredentials.v1 oslogin.v1 oslogin.v1beta oslogin.v1alpha secretmanager.v1 oauth2.v2
hypercomputecluster.v1 billingbudgets.v1beta1
""".split()
# Google publishes no document of Cloud Quotas; this one was written after its reference.
BY_HAND = ("cloudquotas.v1", "cloudquotas.v1beta", "cloudquotas.v1alpha")
HANDMADE = Path(__file__).parent / "discovery"
# Stored as the difference to another version, because they repeat most of it.
BASES = {
    "compute.beta": "compute.v1",
    "compute.alpha": "compute.beta",
    "container.v1beta1": "container.v1",
    "tpu.v2alpha1": "tpu.v2",
    "cloudquotas.v1beta": "cloudquotas.v1",
    "cloudquotas.v1alpha": "cloudquotas.v1",
    "oslogin.v1alpha": "oslogin.v1beta",
}
FOLDER = "googleapiclient/discovery_cache/documents"
TO = Path(__file__).parent.parent / "src/windlass/twin/discovery/data"

OF_DOCUMENT = ("name", "version", "revision", "rootUrl", "servicePath", "batchPath", "baseUrl")
OF_METHOD = ("httpMethod", "path", "flatPath", "supportsMediaDownload")
OF_PARAMETER = ("location", "type", "format", "required", "enum", "pattern", "repeated")
OF_SCHEMA = ("type", "format", "enum", "pattern", "$ref")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def trim(document: dict[str, Any]) -> dict[str, Any]:
    """The document as the twin keeps it: methods by id in one table, no prose."""
    kept = {key: document[key] for key in OF_DOCUMENT if key in document}
    kept["parameters"] = {
        name: _only(parameter, OF_PARAMETER)
        for name, parameter in sorted(document["parameters"].items())
    }
    kept["methods"] = {
        method["id"]: _method(method)
        for method in sorted(_methods(document), key=lambda method: str(method["id"]))
    }
    kept["schemas"] = {
        name: _schema(schema) for name, schema in sorted(document["schemas"].items())
    }
    return kept


def difference(base: Any, changed: Any) -> Any:
    """The merge patch (RFC 7386) that makes `changed` of `base`."""
    patch = {key: None for key in base if key not in changed}
    for key, value in changed.items():
        if key not in base:
            patch[key] = value
        elif value != base[key]:
            both = isinstance(value, dict) and isinstance(base[key], dict)
            patch[key] = difference(base[key], value) if both else value
    return patch


def _methods(level: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from level.get("methods", {}).values()
    for resource in level.get("resources", {}).values():
        yield from _methods(resource)


def _only(value: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value[key] for key in keys if key in value}


def _method(method: dict[str, Any]) -> dict[str, Any]:
    kept = _only(method, OF_METHOD)
    if kept.get("flatPath") == kept["path"]:
        del kept["flatPath"]
    kept["parameters"] = {
        name: _only(parameter, OF_PARAMETER)
        for name, parameter in sorted(method.get("parameters", {}).items())
    }
    for side in ("request", "response"):
        # A free-form object has no schema of its own.
        if "$ref" in method.get(side, {}):
            kept[side] = method[side]["$ref"]
    if "mediaUpload" in method:
        protocols = method["mediaUpload"]["protocols"]
        kept["upload"] = {name: protocol["path"] for name, protocol in sorted(protocols.items())}
    return kept


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    kept = _only(schema, OF_SCHEMA)
    if "properties" in schema:
        kept["properties"] = {
            name: _schema(field) for name, field in sorted(schema["properties"].items())
        }
    for inner in ("items", "additionalProperties"):
        if inner in schema:
            kept[inner] = _schema(schema[inner])
    return kept


def read(source: Path) -> dict[str, dict[str, Any]]:
    """The full documents, by `name.version`."""
    names = {name: f"{FOLDER}/{name}.json" for name in DOCUMENTS}
    if source.is_file():
        with zipfile.ZipFile(source) as wheel:
            return {name: json.loads(wheel.read(path)) for name, path in names.items()}
    return {name: json.loads((source / path).read_bytes()) for name, path in names.items()}


def read_handmade() -> dict[str, dict[str, Any]]:
    """The documents that were written by hand; one file is good for all versions."""
    documents = {}
    for key in BY_HAND:
        name, version = key.split(".")
        text = (HANDMADE / f"{name}.json").read_text(encoding="utf-8")
        documents[key] = json.loads(text.replace("{VERSION}", version))
    return documents


def pack(value: dict[str, Any]) -> bytes:
    """Compact JSON, compressed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return lzma.compress(text.encode(), check=lzma.CHECK_CRC32, filters=FILTERS)


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="the wheel, or the folder it is installed in")
    parser.add_argument("--enum-numbers", type=Path, help="JSON: API, then enum, then number: name")
    parser.add_argument("--to", type=Path, default=TO)
    chosen = parser.parse_args()
    documents = read(chosen.source) | read_handmade()
    trimmed = {name: trim(document) for name, document in documents.items()}
    total = 0
    for name, document in trimmed.items():
        base = BASES.get(name)
        stored = {"base": base, **difference(trimmed[base], document)} if base else document
        data = pack(stored)
        (chosen.to / f"{name}.json.xz").write_bytes(data)
        print(f"{name}: {len(document['methods'])} methods, {len(data):,} bytes")
        total += len(data)
    if chosen.enum_numbers:
        numbers = json.loads(chosen.enum_numbers.read_text())
        text = json.dumps(numbers, sort_keys=True, separators=(",", ":"))
        (chosen.to / "enum_numbers.json").write_text(text + "\n")
    print(f"in all {total:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
