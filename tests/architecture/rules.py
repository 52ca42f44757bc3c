"""The rules that Windlass's source keeps, each a function from a file to its problems.

Must not read files itself, so that each rule can be shown a bad one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from architecture.source import FUNCTIONS, Source, imported, named, strings, used, words

Rule = Callable[[Source], Iterator[str]]

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70

# A file that may be longer, and why.
LONG_FILES: dict[str, str] = {}

# Fewer lines than this need no sentence about what they must not do.
SMALL_MODULE_LINES = 12

PUBLIC_INITS = {
    "src/windlass/runtime/__init__.py": "what a user's program imports is named there",
}

# Programs of their own, which run on Python 3.9 inside a node.
NODE_SIDE = ("agent", "runtime")

AMBIENT = {
    "time.time": "take a Clock",
    "time.sleep": "return when to wake",
    "time.monotonic": "take a Clock",
    "time.perf_counter": "take a Clock",
    "datetime.datetime.now": "take a Clock",
    "random": "take an Entropy",
    "secrets": "take an Entropy",
    "uuid": "take an Entropy",
    "subprocess": "use windlass.ports.process",
}

# Where else the world may be touched, and why.
AMBIENT_ALLOWED: dict[str, str] = {
    "cli/attach.py": "waits at the terminal while a person watches a run",
    "twin/server": "serves real clients, in real time",
    "twin/machines": "runs real processes, in real time",
}

THREADS = ("threading", "_thread", "concurrent.futures", "multiprocessing", "asyncio")
ENVIRONMENT = ("os.environ", "os.environb", "os.getenv", "os.putenv", "os.unsetenv")

# Where else the environment may be read, and why.
ENVIRONMENT_ALLOWED: dict[str, str] = {
    "cli/terminal.py": "how output may look (NO_COLOR, TERM); nothing is decided by it",
    "twin/machines/inside": "programs of their own, inside a machine of the twin",
    "twin/machines/ssh_shim.py": "a program of its own, which stands in for ssh",
}

# Where an engine may be named outside its own folder, and why.
ENGINE_NAMES_ALLOWED: dict[str, str] = {
    "engines/registry.py": "the one list of engines",
    "assemble.py": "the engine of a user who has configured none",
    "twin": "what Google calls its services",
    "catalog": "a kind of accelerator, which an engine is named after",
    "planner": "a kind of accelerator",
    "spec": "a kind of accelerator",
}

BANNED_MODULES = frozenset({"util", "utils", "common", "helper", "helpers", "manager", "core"})
BANNED_CLASS_WORDS = frozenset({"manager", "impl", "helper", "helpers", "utils", "base"})
OTHER_PEOPLES_WORDS = frozenset({"job", "jobs", "task", "tasks", "workload", "workloads"})


def file_length(source: Source) -> Iterator[str]:
    """A file over 400 lines is two ideas."""
    count = len(source.lines)
    if count > FILE_LINES_MAX and source.name not in LONG_FILES:
        yield source.at(1, f"{count} lines; more than {FILE_LINES_MAX} are two ideas")


def function_length(source: Source) -> Iterator[str]:
    """A function over 70 lines does several things."""
    for node in ast.walk(source.tree):
        if isinstance(node, FUNCTIONS):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > FUNCTION_LINES_MAX:
                yield source.at(node.lineno, f"{node.name} has {count} lines")


def docstring(source: Source) -> Iterator[str]:
    """A module says what it owns, and what it must not do."""
    if source.name.endswith("__init__.py") and not source.text:
        return
    said = ast.get_docstring(source.tree) or ""
    if not said.split("\n")[0].rstrip().endswith((".", ":")):
        yield source.at(1, "the module's docstring must begin with a sentence: what it owns")
    elif len(source.lines) >= SMALL_MODULE_LINES and not re.search(r"(?i)must\s(not|never)", said):
        yield source.at(1, "the module's docstring must say what it must not do")


def future_annotations(source: Source) -> Iterator[str]:
    """Annotations are never evaluated at import."""
    has_any = any(isinstance(node, (*FUNCTIONS, ast.AnnAssign)) for node in ast.walk(source.tree))
    if has_any and "from __future__ import annotations" not in source.lines:
        yield source.at(1, "`from __future__ import annotations` is missing")


def names(source: Source) -> Iterator[str]:
    """No module and no class is named after nothing."""
    for part in source.name.removesuffix(".py").split("/"):
        if BANNED_MODULES.intersection(words(part)):
            yield source.at(1, f"{part!r} says nothing: name what it owns")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and BANNED_CLASS_WORDS.intersection(words(node.name)):
            yield source.at(node.lineno, f"{node.name!r} says nothing: name what it is")


def one_word_per_idea(source: Source) -> Iterator[str]:
    """Runs, attempts and claims are never called by the words of other systems."""
    for line, name in named(source):
        if OTHER_PEOPLES_WORDS.intersection(words(name)):
            yield source.at(line, f"{name!r}: see docs/design/words.md")


def empty_init(source: Source) -> Iterator[str]:
    """Logic does not hide in `__init__.py`."""
    is_init = source.name.endswith("/__init__.py")
    if is_init and source.text.strip() and source.name not in PUBLIC_INITS:
        yield source.at(1, "__init__.py files are empty")


def no_ambient_world(source: Source) -> Iterator[str]:
    """The control plane takes clock, chance and processes as values."""
    if source.is_under("ports", *NODE_SIDE, *AMBIENT_ALLOWED):
        return
    seen = set()
    for line, name in used(source):
        for banned, instead in AMBIENT.items():
            is_it = name == banned or name.startswith(f"{banned}.")
            if is_it and (line, banned) not in seen:
                seen.add((line, banned))
                yield source.at(line, f"{banned}: {instead}")


def threads_in_one_place(source: Source) -> Iterator[str]:
    """Threads exist in one file of the control plane, and where the twin meets the world."""
    meets_world = ("twin/server", "twin/machines", "twin/storage")
    if source.is_under("controller/workers.py", *meets_world, *NODE_SIDE):
        return
    if source.is_under("twin"):
        # The server's threads come in here: locks are needed, threads are not.
        for line in sorted({line for line, name in used(source) if name == "threading.Thread"}):
            yield source.at(line, "the twin starts threads only in its server and its machines")
        return
    for line in sorted({line for line, name in imported(source) if name.startswith(THREADS)}):
        yield source.at(line, "threads belong into controller/workers.py")


def environment_in_one_place(source: Source) -> Iterator[str]:
    """The environment is read where objects are assembled, and nowhere else."""
    if source.is_under("assemble.py", "__main__.py", "ports", *NODE_SIDE, *ENVIRONMENT_ALLOWED):
        return
    for line in sorted({line for line, name in used(source) if name in ENVIRONMENT}):
        yield source.at(line, "the environment is read in assemble.py and ports")


def excused(source: Source) -> Iterator[str]:
    """Whoever switches a check off says which one and why."""
    for line, comment in source.comments.items():
        said = re.search(r"\b(noqa|type:\s*ignore)\b(.*)", comment)
        if said is None:
            continue
        pattern = r":\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*" if said[1] == "noqa" else r"\[[a-z, -]+\]"
        code = re.match(pattern, said[2])
        if code is None:
            yield source.at(line, f"{said[1]} must name what it switches off")
        elif len(re.findall(r"\w+", said[2][code.end() :])) < 2 and line - 1 not in source.comments:
            yield source.at(line, f"{said[1]} must say why, behind the code or in the line above")


def no_bare_todo(source: Source) -> Iterator[str]:
    """What is left to do has an issue."""
    for line, comment in source.comments.items():
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\): \w)", comment):
            yield source.at(line, "write it now, or `TODO(#123): why`")


def no_mocks(source: Source) -> Iterator[str]:
    """Tests use real objects, or small ones of their own: never patches."""
    for line, name in imported(source):
        if name in ("unittest.mock", "mock", "pytest_mock"):
            yield source.at(line, "pass a real object instead of patching")


def engine_names(source: Source, engines: frozenset[str]) -> Iterator[str]:
    """An engine is known by what it can do, not by its name."""
    if source.is_under(*ENGINE_NAMES_ALLOWED, *(f"engines/{name}" for name in engines)):
        return
    for line, value in strings(source):
        if value in engines:
            yield source.at(line, f"{value!r}: engines are not named outside their folder")
    for line, name in imported(source):
        if name.startswith(tuple(f"windlass.engines.{engine}" for engine in engines)):
            yield source.at(line, f"{name}: only the registry loads an engine")


def runs_on_python_39(source: Source) -> Iterator[str]:
    """What travels to a node runs on the Python that is there."""
    if not source.is_under(*NODE_SIDE):
        return
    try:
        ast.parse(source.text, feature_version=(3, 9))
    except SyntaxError as exc:
        yield source.at(exc.lineno or 1, f"not Python 3.9: {exc.msg}")


def dead_modules(sources: list[Source], entry_points: frozenset[str]) -> list[str]:
    """Modules that nobody imports, by statement or by a string that names them.

    A string that ends in a dot names every module of that package: `f"windlass.cli.{name}"`.
    """
    reached = set(entry_points)
    for source in sources:
        mentioned = {name for _, name in imported(source)}
        for _, value in strings(source):
            mentioned.update(re.findall(r"windlass[\w.]+", value))
        reached |= mentioned - {source.module}

    def is_reached(module: str) -> bool:
        return module in reached or f"{module.rpartition('.')[0]}." in reached

    return sorted(
        source.at(1, "nobody imports this module")
        for source in sources
        if not source.name.endswith("__init__.py") and not is_reached(source.module)
    )


# Of the places that this must not know, spelt so that this line is not one of them.
FOREIGN_PLACES = re.compile(r"(?<![\w.~$}>/-])/" + r"(?:work|root|home/\w+)/|\.\./" + r"shared\b")


def no_places_of_ours(name: str, text: str) -> Iterator[str]:
    """Nothing names a folder of the machine that it was written on."""
    for number, line in enumerate(text.splitlines(), 1):
        found = FOREIGN_PLACES.search(line)
        if found:
            yield f"{name}:{number}: {found[0]!r} exists on one machine only"
