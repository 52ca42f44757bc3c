"""Runs the small programs of a start-up script in simulated time, as they are shipped.

Must not know what they do: they are told another clock, network and disk, and where one sleeps the
world goes on.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Generator, Mapping
from functools import cache
from types import CodeType
from typing import Any

Process = Generator[float, None, int]
"""Gives the seconds after which it wants to go on; its exit status in the end."""
LIBRARY = "machine"
"""The file that the others import everything of."""
_MAIN = "__program__"


class _Naps(ast.NodeTransformer):
    """`time.sleep(x)` becomes `yield x`."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "time.sleep":
            return ast.copy_location(ast.Expr(ast.Yield(call.args[0])), node)
        return self.generic_visit(node)


def start(text: str, library: Mapping[str, Any], modules: Mapping[str, Any]) -> Process:
    """A program that is about to run, with what it imports of the library and of Python."""
    space = {**library, "__builtins__": modules["builtins"]}
    exec(_generator(text), space)
    return _run(space[_MAIN]())


def load_library(text: str, modules: Mapping[str, Any]) -> dict[str, Any]:
    """What the library defines, in the world of these modules."""
    space: dict[str, Any] = {"__builtins__": modules["builtins"]}
    exec(_plain(text), space)
    return space


def with_import(modules: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The modules with builtins whose `import` finds them; `own` are other builtins."""

    def find(name: str, *args: Any) -> Any:
        return modules.get(name.partition(".")[0]) or __import__(name, *args)

    modules["builtins"] = {**vars(builtins), **own, "__import__": find}
    return modules


def _run(main: Generator[float, None, None]) -> Process:
    try:
        yield from main
    except SystemExit as end:
        # Words are printed, and are no success.
        return 1 if isinstance(end.code, str) else int(end.code or 0)
    except OSError:
        return 1  # Nobody catches it: the interpreter prints it and ends so.
    return 0


@cache
def _plain(text: str) -> CodeType:
    return compile(text, "<library>", "exec")


@cache
def _generator(text: str) -> CodeType:
    """The program as a function that naps; its names stay those of a module."""
    module = ast.parse(text)
    body = [node for node in module.body if not _is_library(node)]
    bound = sorted(_bound(module))
    globally = [ast.Global(names=bound)] if bound else []
    never = ast.parse("if 0:\n    yield 0.0").body
    main = ast.parse(f"def {_MAIN}(): pass").body[0]
    assert isinstance(main, ast.FunctionDef)
    main.body = [*globally, *never, *body]
    tree = _Naps().visit(ast.Module(body=[main], type_ignores=[]))
    return compile(ast.fix_missing_locations(tree), "<program>", "exec")


def _is_library(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == LIBRARY


def _bound(module: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
    # Functions have names of their own; that they are global too does no harm.
    return names | {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
