"""Terraform: as kept, as `terraform fmt` writes it, and as the provider's schema has it."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rented import PROJECT
from rented_machines import CLAIMS, rendered
from windlass.engines.compute.terraform import terraform_text
from windlass.engines.hcl import Block, Expression, text_of

SCHEMA = Path(__file__).parents[3] / "data" / "terraform" / "google.json"
KEPT = ("a3-ultra", "a2-flex-start", "g2")
META = {"for_each"}
"""Arguments that every resource takes."""
LEFT_OUT = {"google_compute_instance.guest_accelerator.count"}
"""Required by the provider; the bindings that the schema was read from cannot name it."""


@functools.cache
def schema() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))["resources"]


def shortened(text: str) -> str:
    return re.sub(r"(<<WINDLASS_TEXT\n).*?(?=^WINDLASS_TEXT$)", r"\1…\n", text, flags=re.S | re.M)


@pytest.mark.parametrize("name", KEPT)
def test_resources_are_rendered_as_they_are_kept(name, golden):
    text = terraform_text(rendered(name), project=PROJECT)
    golden.check(f"compute/{name}.tf", shortened(text))


@pytest.mark.parametrize("name", CLAIMS)
def test_every_argument_is_one_of_the_provider_and_none_that_it_needs_is_missing(name):
    text = terraform_text(rendered(name), project=PROJECT)
    problems = []
    for kind, tree in resources(shortened(text)):
        if kind not in schema():
            problems.append(f"{kind}: no such resource")
        else:
            problems += wrong(tree, schema()[kind], kind)
    assert [one for one in problems if one.partition(":")[0] not in LEFT_OUT] == []


def test_the_check_finds_what_is_wrong():
    tree = {"name": "x", "nothing": 1, "network_interface": [{"nic": 1}]}
    found = wrong(tree, schema()["google_compute_instance"], "it")
    assert "it.nothing: not an argument" in found
    assert "it.network_interface.nic: not an argument" in found
    assert "it.machine_type: required" in found


@pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not installed")
@pytest.mark.parametrize("name", CLAIMS)
def test_the_file_is_as_terraform_fmt_writes_it(name):
    text = terraform_text(rendered(name), project=PROJECT)
    done = subprocess.run(
        ["terraform", "fmt", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, text)


def test_text_is_never_filled_in_by_terraform():
    block = Block(type="x", arguments={"a": "${b} %{c}", "d": "${e}\n", "f": Expression("g.h")})
    assert text_of([block]) == (
        'x {\n  a = "$${b} %%{c}"\n  f = g.h\n\n  d = <<WINDLASS_TEXT\n$${e}\nWINDLASS_TEXT\n}\n'
    )


def wrong(tree: Mapping[str, Any], wanted: Mapping[str, Any], path: str) -> list[str]:
    """What a resource or a block says that the provider does not take."""
    problems = [f"{path}.{name}: not an argument" for name in tree if name not in {*wanted, *META}]
    problems += [
        f"{path}.{name}: required"
        for name, one in wanted.items()
        if one.get("required") and name not in tree
    ]
    for name, value in tree.items():
        inside = wanted.get(name, {}).get("block")
        if isinstance(value, list):
            problems += [] if inside else [f"{path}.{name}: not a block"]
            for one in value:
                problems += wrong(one, inside or {}, f"{path}.{name}")
        elif inside:
            problems.append(f"{path}.{name}: a block, not an argument")
    return problems


def resources(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Resources of a file that is formatted as ours are: blocks are lists, maps are left out."""
    found: list[tuple[str, dict[str, Any]]] = []
    stack: list[dict[str, Any]] = []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "resource":
            found.append((words[1].strip('"'), {}))
            stack = [found[-1][1]]
        elif words[-1] == "}" and len(words) == 1:
            stack.pop()
        elif len(words) == 2 and words[1] == "{":
            inner: dict[str, Any] = {}
            stack[-1].setdefault(words[0], []).append(inner)
            stack.append(inner)
        elif "=" in words[1:2]:
            stack[-1][words[0]] = words[2]
            if words[2:] == ["{"]:
                stack.append({})
    return found
