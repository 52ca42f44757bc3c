"""Windlass's source keeps its rules, and each rule can be broken."""

from __future__ import annotations

import functools
import tomllib

import pytest

import tree
from architecture import rules
from architecture.source import Source, imported

EVERYWHERE = (rules.file_length, rules.function_length, rules.excused, rules.no_bare_todo)
IN_SOURCE = (
    rules.docstring,
    rules.future_annotations,
    rules.names,
    rules.one_word_per_idea,
    rules.empty_init,
    rules.no_ambient_world,
    rules.threads_in_one_place,
    rules.environment_in_one_place,
    rules.runs_on_python_39,
)

# Modules that are programs, or that others than Windlass import.
ENTRY_POINTS = frozenset({"windlass.__main__", "windlass.agent.__main__"})

LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 70
MUST_NOT = '"""Owns it.\n\nMust not more.\n"""\n'

# Each rule with a file that breaks it, and one beside it that does not.
SAMPLES = [
    (rules.file_length, "x = 1\n" * 401, "x = 1\n" * 400),
    (rules.function_length, LONG_FUNCTION, LONG_FUNCTION[:-10]),
    (rules.docstring, "x = 1\n", '"""Owns x."""\nx = 1\n'),
    (rules.docstring, '"""Owns x."""\n' + "x = 1\n" * 20, MUST_NOT + "x = 1\n" * 20),
    (rules.future_annotations, "x: int = 1\n", "x = 1\n"),
    (rules.names, "class RunManager: ...\n", "class Runs: ...\n"),
    (rules.one_word_per_idea, "def start_job(): ...\n", "def start_run(): ...\n"),
    (rules.one_word_per_idea, "class BatchTask: ...\n", "class Batch: ...\n"),
    (rules.one_word_per_idea, "def f(*, workloads): ...\n", "def f(*, runs): ...\n"),
    (rules.no_ambient_world, "import time\ntime.sleep(1)\n", "import time\ntime.gmtime(0)\n"),
    (rules.no_ambient_world, "from time import monotonic\n", "from time import gmtime\n"),
    (rules.no_ambient_world, "import subprocess\n", "import shlex\n"),
    (rules.no_ambient_world, "import time as t\nt.time()\n", "secrets = {}\nsecrets.get(1)\n"),
    (rules.no_ambient_world, "from datetime import datetime as d\nd.now()\n", "import uu\n"),
    (
        rules.no_ambient_world,
        "from datetime import datetime\ndatetime.now()\n",
        "import datetime\n",
    ),
    (rules.threads_in_one_place, "from threading import Lock\n", "import queue\n"),
    (rules.environment_in_one_place, "import os\nos.environ['A']\n", "import os\nos.getpid()\n"),
    (rules.environment_in_one_place, "from os import getenv\n", "from os import getpid\n"),
    (rules.excused, "x = 1  # noqa\n", "x = 1  # noqa: E501 - a link cannot be broken\n"),
    (rules.excused, "x = 1  # noqa: E501\n", "x = '# noqa'\n"),
    (rules.excused, "x = 1  # noqa: E501\n", "# A link cannot be broken.\nx = 1  # noqa: E501\n"),
    (rules.excused, "x = 1  # type: ignore\n", "x = 1  # type: ignore[arg-type] # they say Any\n"),
    (rules.no_bare_todo, "x = 1  # TODO: later\n", "x = 1  # TODO(#12): when buckets come\n"),
    (rules.no_mocks, "from unittest.mock import patch\n", "import unittest\n"),
]


@functools.cache
def sources(*folders: str) -> list[Source]:
    return [Source(name, tree.text(name)) for name in tree.python_files(*folders)]


def expect_none(rule: rules.Rule, checked: list[Source]) -> None:
    problems = [problem for source in checked for problem in rule(source)]
    assert not problems, "\n".join(problems)


def engines() -> frozenset[str]:
    inits = [name.split("/") for name in tree.python_files("src/windlass/engines")]
    return frozenset(parts[3] for parts in inits if parts[4:] == ["__init__.py"])


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule):
    expect_none(rule, sources("src", "tests", "scripts", "bench", "examples"))


@pytest.mark.parametrize("rule", IN_SOURCE, ids=lambda rule: rule.__name__)
def test_windlass_keeps_the_rule(rule):
    expect_none(rule, sources("src"))


def test_tests_do_not_patch():
    expect_none(rules.no_mocks, sources("tests"))


def test_engines_are_not_named_outside_their_folder():
    known = engines()
    assert "local" in known
    expect_none(functools.partial(rules.engine_names, engines=known), sources("src"))


def test_every_module_is_imported_by_somebody():
    project = tomllib.loads(tree.text("pyproject.toml"))["project"]
    programs = {target.partition(":")[0] for target in project["scripts"].values()}
    simulated = {
        name
        for source in sources("tests", "bench", "scripts")
        for _, name in imported(source)
        # Nothing but tests and benchmarks may import these.
        if name.startswith(("windlass.simulation", "windlass.planner.buying.study"))
    }
    found = rules.dead_modules(sources("src"), ENTRY_POINTS | programs | simulated)
    assert not found, "\n".join(found)


def test_no_file_names_a_place_on_the_machine_it_was_written_on():
    found = [
        problem
        for name in tree.files()
        for problem in rules.no_places_of_ours(name, tree.text(name))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "bad", "good"), SAMPLES, ids=lambda value: getattr(value, "__name__", "")
)
def test_the_rule_finds_what_breaks_it_and_nothing_else(rule, bad, good):
    assert list(rule(Source("src/windlass/controller/sample.py", bad)))
    assert list(rule(Source("src/windlass/controller/sample.py", good))) == []


@pytest.mark.parametrize("name", ["utils", "common", "run_helpers", "manager", "core"])
def test_a_module_named_after_nothing_is_found(name):
    assert list(rules.names(Source(f"src/windlass/{name}.py", "")))
    assert list(rules.names(Source(f"src/windlass/{name}/runs.py", "")))


def test_logic_in_an_init_file_is_found():
    assert list(rules.empty_init(Source("src/windlass/state/__init__.py", "x = 1\n")))
    assert not list(rules.empty_init(Source("src/windlass/runtime/__init__.py", "x = 1\n")))


def test_new_syntax_on_the_node_side_is_found():
    text = "match x:\n    case 1: ...\n"
    assert list(rules.runs_on_python_39(Source("src/windlass/agent/sample.py", text)))
    assert not list(rules.runs_on_python_39(Source("src/windlass/state/sample.py", text)))


@pytest.mark.parametrize(
    "text", ["engine = 'local'\n", "import windlass.engines.local.engine\n"], ids=["name", "import"]
)
def test_an_engine_named_outside_its_folder_is_found(text):
    known = frozenset({"local"})
    assert list(rules.engine_names(Source("src/windlass/controller/sample.py", text), known))
    assert not list(rules.engine_names(Source("src/windlass/engines/local/x.py", text), known))


def test_a_module_that_nobody_imports_is_found():
    used = Source("src/windlass/used.py", "import windlass.lonely.not_it\n")
    lazy = Source("src/windlass/lazy.py", "NAMES = ['windlass.used:main']\n")
    dead = Source("src/windlass/dead.py", "import windlass.lazy\nimport windlass.dead\n")
    table = Source("src/windlass/table.py", "import windlass.table\nx = f'windlass.many.{1}'\n")
    one = Source("src/windlass/many/one.py", "")
    found = rules.dead_modules([used, lazy, dead, table, one], frozenset({"windlass.table"}))
    assert found == ["src/windlass/dead.py:1: nobody imports this module"]


@pytest.mark.parametrize(
    ("line", "is_bad"),
    [
        ("see /" + "work/main", True),
        ("cp ~/x /" + "root/x", True),
        ("'/" + "home/ada/.ssh'", True),
        ("in ../" + "shared/notes", True),
        ("file://node/work/x", False),
        ("gs://bucket/root/x", False),
        ("$HOME/work/x", False),
        ("the workdir/root of it", False),
    ],
)
def test_a_place_of_one_machine_is_found(line, is_bad):
    assert bool(list(rules.no_places_of_ours("x.md", line))) is is_bad
