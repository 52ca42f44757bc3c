"""A wrong file gets words and status 2, and changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windlass.assemble import open_home

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [*{before},*{before},*{before},*{before},*{before},*{before},*{before}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
WRONG = {
    "misspelt key": "nmae: x\nrun: 'true'\n",
    "misspelt key in a section": "name: x\nrun: 'true'\nlimits: {ttls: 1h}\n",
    "misspelt accelerator": "name: x\nrun: 'true'\nresources: {accelerators: H10O:8}\n",
    "duration without a unit": "name: x\nrun: 'true'\nlimits: {ttl: 5}\n",
    "size in potatoes": "name: x\nrun: 'true'\nresources: {memory: 5 potatoes}\n",
    "money in euros": "name: x\nrun: 'true'\nlimits: {budget: 5 EUR}\n",
    "nine GPUs in a node": "name: x\nrun: 'true'\nresources: {accelerators: H100:9}\n",
    "a slice that does not exist": "name: x\nrun: 'true'\nresources: {accelerators: v5e-17}\n",
    "no nodes": "name: x\nrun: 'true'\nresources: {nodes: 0}\n",
    "nodes the wrong way round": "name: x\nrun: 'true'\nresources: {nodes: 8..2}\n",
    "nothing to run": "name: x\nrun: ''\n",
    "name that leaves the folder": "name: ../x\nrun: 'true'\n",
    "name that a shell would run": "name: 'x; rm -rf ~'\nrun: 'true'\n",
    "name that is an option": "name: -rf\nrun: 'true'\n",
    "environment that is no name": "name: x\nrun: 'true'\nenv: {'A B': c}\n",
    "billion laughs": BOMB,
    "alias that holds itself": "name: &a [*a]\nrun: 'true'\n",
    "a thousand folders deep": "name: " + "[" * 1000 + "]" * 1000,
    "an object of Python's": "name: !!python/object/apply:os.system ['true']\nrun: 'true'\n",
    "no YAML": "name: [x\nrun: }\n",
    "a tab": "name: x\nrun:\n\t- a\n",
    "two documents": "name: x\nrun: 'true'\n---\nname: y\n",
    "empty": "",
    "a list": "- name: x\n",
    "junk": bytes(range(256)) * 20,
    "NULs": b"name: x\0\nrun: y\n",
    "UTF-16": "name: x\nrun: y\n".encode("utf-16"),
    "an archive": b"PK\x03\x04" + os.urandom(2000),
}


def contents(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_spec_ends_with_2_and_changes_nothing(windlass, tmp_path, text):
    spec = tmp_path / "work" / "train.yaml"
    spec.parent.mkdir()
    spec.write_bytes(text if isinstance(text, bytes) else text.encode())
    home = open_home()
    assert home.store().list_runs() == []
    before = contents(home.path)
    result = windlass("run", str(spec))
    assert result.status == 2
    assert "error[spec-invalid]" in result.err
    assert f"{spec}:" in result.err or "train.yaml:" in result.err
    assert result.out == ""
    assert contents(home.path) == before
    assert contents(spec.parent) == ["train.yaml"]
    assert not home.is_controller_alive()


def test_a_spec_of_50_mb_is_refused_unread(windlass, tmp_path):
    spec = tmp_path / "train.yaml"
    with spec.open("wb") as file:
        file.write(b"name: x\n")
        file.truncate(50 * 10**6)
    result = windlass("run", str(spec))
    assert result.status == 2
    assert "larger than 1024 KiB" in result.err


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_what_is_no_file_is_refused(windlass, tmp_path, name):
    result = windlass("run", str(tmp_path / name))
    assert result.status == 2
    assert "error[" in result.err
