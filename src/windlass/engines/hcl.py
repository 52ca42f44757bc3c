"""Terraform's language, written as `terraform fmt` would.

Must not know any provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

STEP = "  "


@dataclass(frozen=True, slots=True)
class Expression:
    """Text that is taken as it is: a reference, not a string."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`type "label" { … }`: arguments, then blocks."""

    type: str
    labels: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    blocks: Sequence[Block] = ()


def text_of(blocks: Sequence[Block]) -> str:
    """A whole file."""
    return "\n".join("".join(f"{line}\n" for line in _block(block, "")) for block in blocks)


def _block(block: Block, indent: str) -> list[str]:
    head = " ".join([block.type, *(json.dumps(label) for label in block.labels)])
    inner = indent + STEP
    lines = [f"{indent}{head} {{"]
    lines += _arguments(block.arguments, inner)
    for one in block.blocks:
        if len(lines) > 1:
            lines.append("")
        lines += _block(one, inner)
    return [*lines, f"{indent}}}"]


def _arguments(arguments: Mapping[str, Any], indent: str) -> list[str]:
    """Short values in a block of their own, with their signs in one column; each long one stands
    for itself."""
    values = {name: _value(value, indent) for name, value in arguments.items()}
    short = {name: lines[0] for name, lines in values.items() if len(lines) == 1}
    width = max(map(len, short), default=0)
    found = [f"{indent}{name:<{width}} = {text}" for name, text in short.items()]
    for name, lines in values.items():
        if len(lines) > 1:
            first, *rest = lines
            found += [*([""] if found else []), f"{indent}{name} = {first}", *rest]
    return found


def _value(value: Any, indent: str) -> list[str]:
    if isinstance(value, Expression):
        return [value.text]
    if isinstance(value, str):
        return _heredoc(value) if "\n" in value else [_quoted(value)]
    if isinstance(value, Mapping):
        keyed = {_key(name): one for name, one in value.items()}
        return ["{", *_arguments(keyed, indent + STEP), f"{indent}}}"]
    if isinstance(value, Sequence):
        return [f"[{', '.join(_value(one, indent)[0] for one in value)}]"]
    return [json.dumps(value)]


def _key(name: str) -> str:
    is_plain = name.replace("-", "_").isidentifier()
    return name if is_plain else json.dumps(name)


def _quoted(text: str) -> str:
    return _literal(json.dumps(text, ensure_ascii=False))


def _heredoc(text: str) -> list[str]:
    end = "WINDLASS_TEXT"
    body = text if text.endswith("\n") else f"{text}\n"
    return [f"<<{end}", *_literal(body).splitlines(), end]


def _literal(text: str) -> str:
    """Nothing in it is to be filled in."""
    return text.replace("${", "$${").replace("%{", "%%{")
