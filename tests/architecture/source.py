"""A Python file as the rules see it, and the questions that several rules ask of it.

Must not hold a rule.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Source:
    """One file: its name relative to the root, and its text."""

    name: str
    text: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The file, parsed."""
        return ast.parse(self.text, self.name)

    @property
    def lines(self) -> list[str]:
        """The file, line by line."""
        return self.text.splitlines()

    @functools.cached_property
    def comments(self) -> dict[int, str]:
        """The comment of each line that has one."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    @property
    def module(self) -> str:
        """The dotted name that it is imported by."""
        stem = self.name.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
        return stem.replace("/", ".")

    def at(self, line: int, problem: str) -> str:
        """A problem of this file, as an editor can jump to it."""
        return f"{self.name}:{line}: {problem}"

    def is_under(self, *places: str) -> bool:
        """Whether it is one of these files, or in one of these folders of src/windlass."""
        inside = self.name.removeprefix("src/windlass/")
        return any(inside == place or inside.startswith(f"{place}/") for place in places)


def imported(source: Source) -> Iterator[tuple[int, str]]:
    """Every module, and every name in one, that the file imports: `(line, dotted name)`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def used(source: Source) -> Iterator[tuple[int, str]]:
    """Every dotted name that the file imports, or reads from what it has imported, whatever it
    calls that: `(line, dotted name)`."""
    yield from imported(source)
    meant = _bindings(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            root, _, rest = ast.unparse(node).partition(".")
            if root in meant:
                yield node.lineno, f"{meant[root]}.{rest}"


def _bindings(source: Source) -> dict[str, str]:
    """What each name means that an import gives: `import os.path as p` gives p for os.path."""
    meant: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                meant |= {alias.asname: alias.name} if alias.asname else {root: root}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                meant[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return meant


def named(source: Source) -> Iterator[tuple[int, str]]:
    """Every name that the file itself gives to something: `(line, name)`."""
    for node in ast.walk(source.tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def strings(source: Source) -> Iterator[tuple[int, str]]:
    """Every string that is no docstring: `(line, value)`."""
    docstrings = {
        id(node.value)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(source.tree):
        is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_string and id(node) not in docstrings:
            yield node.lineno, node.value


def words(name: str) -> list[str]:
    """The words of a name, in lower case: `RunJob`, `run_job` and `RUN_JOB` are run and job."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
