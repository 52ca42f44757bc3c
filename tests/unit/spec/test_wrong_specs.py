"""Wrong specs get problems at their place, quickly, and never a traceback."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
import yaml

from windlass.errors import Problem, SpecInvalid
from windlass.spec import tree
from windlass.spec.load import load_spec, parse_spec

GOOD = "name: a\nrun: python train.py\n"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@dataclass(frozen=True)
class Wrong:
    name: str
    text: str | bytes
    expected: list[tuple[str, int, int]]
    says: str = ""
    """Something that must be in the message or the remedy of the first problem."""


def after_good(name: str, text: str, *expected: tuple[str, int, int], says: str = "") -> Wrong:
    """A spec that is wrong only in the lines from the third on."""
    return Wrong(name, GOOD + text, list(expected), says)


WRONG = [
    # Keys
    after_good("misspelt key", "limts: {ttl: 1h}\n", ("unknown-key", 3, 1), says="`limits`"),
    after_good(
        "misspelt key in a section",
        "resources:\n  accelerator: H100:8\n",
        ("unknown-key", 4, 3),
        says="`accelerators`",
    ),
    after_good(
        "key in the wrong place", "nodes: 4\n", ("unknown-key", 3, 1), says="`resources.nodes`"
    ),
    after_good(
        "another tool's key", "num_nodes: 4\n", ("unknown-key", 3, 1), says="`resources.nodes`"
    ),
    after_good("key like no other", "zzzzqq: 4\n", ("unknown-key", 3, 1), says="Keys here: name,"),
    after_good("key given twice", "name: b\n", ("duplicate-key", 3, 1), says="line 1"),
    after_good("key that is a list", "[a, b]: c\n", ("key-not-text", 3, 1)),
    after_good("merge key", "<<: {env: {A: b}}\n", ("merge-key", 3, 1)),
    after_good("key without a value", "setup:\n", ("value-missing", 3, 1)),
    Wrong("no keys at all", "{}", [("key-missing", 1, 1), ("key-missing", 1, 1)], "`name`"),
    after_good("roles", "roles: []\n", ("not-yet", 3, 1)),
    after_good("a kind that comes later", "kind: serve\n", ("not-yet", 3, 7)),
    after_good("an unknown kind", "kind: trian\n", ("unknown-kind", 3, 7), says="`train`"),
    after_good("an unknown launch", "launch: torch-run\n", ("unknown-launch", 3, 9), says="torch"),
    # Units
    after_good(
        "duration without unit",
        "limits: {deadline: 72}\n",
        ("duration-without-unit", 3, 20),
        says="72h",
    ),
    after_good("duration in weeks", "limits:\n  ttl: 2 fortnights\n", ("bad-duration", 4, 8)),
    after_good("duration of nothing", "limits: {ttl: 0s}\n", ("not-positive", 3, 15)),
    after_good(
        "money without currency",
        "limits: {budget: 900}\n",
        ("money-without-currency", 3, 18),
        says="900 USD",
    ),
    after_good("money in euros", "limits: {budget: 900 EUR}\n", ("currency-refused", 3, 18)),
    after_good("negative money", "limits: {budget: -5 USD}\n", ("bad-money", 3, 18)),
    after_good(
        "size without unit", "resources: {memory: 64}\n", ("size-without-unit", 3, 21), says="64GiB"
    ),
    after_good("size in gigs", "resources: {disk: 64 gigs}\n", ("bad-size", 3, 19)),
    after_good("half a node", "resources: {nodes: 0.5}\n", ("bad-range", 3, 20)),
    after_good("range turned", "resources: {nodes: 64..2}\n", ("bad-range", 3, 20), says="2..64"),
    after_good("fraction of a restart", "limits: {restarts: 1.5}\n", ("bad-number", 3, 20)),
    # Impossible resources
    after_good(
        "nine GPUs in a node",
        "resources: {accelerators: H100:9}\n",
        ("impossible-count", 3, 27),
        says="H100:8 or less",
    ),
    after_good(
        "slice of seventeen chips",
        "resources:\n  accelerators: [H100:8, v5e-17]\n",
        ("impossible-count", 4, 26),
        says="v5e-16",
    ),
    after_good(
        "misspelt accelerator",
        "resources: {accelerators: HH100:8}\n",
        ("unknown-accelerator", 3, 27),
        says="`H100:8`",
    ),
    after_good(
        "accelerator turned round",
        "resources: {accelerators: 8xH100}\n",
        ("bad-accelerator", 3, 27),
        says="H100:8",
    ),
    after_good("no node", "resources: {nodes: 0}\n", ("out-of-range", 3, 20)),
    after_good("a million nodes", "resources: {nodes: 1000000}\n", ("out-of-range", 3, 20)),
    after_good("minus one CPU", "resources: {cpus: -1}\n", ("not-positive", 3, 19)),
    after_good("no checkpoint kept", "checkpoint: {keep: 0}\n", ("out-of-range", 3, 20)),
    after_good(
        "deadline after the end",
        "limits: {deadline: 4d, ttl: 72h}\n",
        ("deadline-after-ttl", 3, 10),
        says="ttl",
    ),
    after_good(
        "half of the work", "work: {params: 7e9}\n", ("work-incomplete", 3, 7), says="`tokens`"
    ),
    after_good("unknown way to buy", "where: {buy: [sport]}\n", ("bad-buy", 3, 15), says="`spot`"),
    after_good("reservation without name", "where: {buy: reservation/}\n", ("bad-buy", 3, 14)),
    # Names
    Wrong("name for a shell", "name: a; rm -rf x\nrun: b\n", [("bad-name", 1, 7)], ";"),
    Wrong("name with a path", "name: ../a\nrun: b\n", [("bad-name", 1, 7)]),
    Wrong("name that is empty", 'name: ""\nrun: b\n', [("bad-name", 1, 7)]),
    Wrong("run that is empty", 'name: a\nrun: " "\n', [("empty-command", 2, 6)]),
    after_good("bad variable", "env: {1A: b}\n", ("bad-variable", 3, 7)),
    after_good("our variable", "env: {WINDLASS_RANK: 3}\n", ("reserved-name", 3, 7)),
    after_good("variable without value", "env:\n  A:\n", ("value-missing", 4, 5)),
    after_good("secret in env", "env: {A: b}\nsecrets: [B, A]\n", ("secret-in-env", 4, 14)),
    after_good("capital in a label", "labels: {Team: nlp}\n", ("bad-label", 3, 10)),
    after_good("two data of one name", "data: {a: x, A: y}\n", ("duplicate-value", 3, 14)),
    # Shapes
    after_good("text for a mapping", "env: A=b\n", ("wrong-type", 3, 6)),
    after_good("mapping for text", "setup: {a: b}\n", ("wrong-type", 3, 8)),
    after_good("list of lists", "where: {regions: [[a]]}\n", ("wrong-type", 3, 19)),
    after_good("engine without options", "engine: {slurm: h100}\n", ("wrong-type", 3, 17)),
    after_good("infinity for an engine", "engine: {slurm: {a: .inf}}\n", ("bad-number", 3, 21)),
    after_good("the same twice", "where: {regions: [a, a]}\n", ("duplicate-value", 3, 22)),
    after_good("empty list", "where: {engines: []}\n", ("empty-list", 3, 9)),
    Wrong("a list", "- a\n- b\n", [("not-a-mapping", 1, 1)]),
    Wrong("nothing", "", [("empty-file", 1, 1)]),
    Wrong("a comment", "# nothing\n", [("empty-file", 1, 1)]),
    Wrong("an empty document", "---\n", [("empty-file", 1, 1)]),
    Wrong("two documents", GOOD + "---\n" + GOOD, [("several-documents", 3, 1)]),
    # Not YAML
    Wrong("a tab", "name: a\nenv:\n\tA: b\nrun: c\n", [("yaml-syntax", 3, 1)], "tab"),
    Wrong("an open quote", "name: a\nrun: 'b\n", [("yaml-syntax", 2, 6)], "quote"),
    Wrong("an open bracket", "name: a\nwhere: {regions: [a\n", [("yaml-syntax", 2, 18)], "`[`"),
    Wrong("two colons", "name: a: b\n", [("yaml-syntax", 1, 8)], "quote"),
    Wrong("a bare star", "where: {regions: [*]}\n", [("yaml-syntax", 1, 20)], "quotes"),
    Wrong("binary junk", b"\x7fELF\x02\x01\x00\xff\xfe", [("not-utf8", 1, 8)]),
    Wrong("Latin-1", "name: a\nrun: café\n".encode("latin-1"), [("not-utf8", 2, 9)], "UTF-8"),
    Wrong("UTF-16", GOOD.encode("utf-16"), [("not-utf8", 1, 1)], "UTF-16"),
    Wrong("UTF-16 without its mark", GOOD.encode("utf-16-le"), [("not-text", 1, 2)]),
    Wrong("a NUL", b"name: a\0b\n", [("not-text", 1, 8)]),
    Wrong("an escaped NUL", 'name: a\nrun: "b\\0"\n', [("not-text", 2, 6)]),
    # Bombs
    Wrong("billion laughs", BOMB, [("too-many-values", 4, 55)]),
    Wrong("an alias of itself", "a: &a [*a]\n", [("alias-recursive", 1, 8)]),
    Wrong("an alias of nothing", "a: *b\n", [("alias-unknown", 1, 4)]),
    Wrong("deep brackets", "a: " + "[" * 500_000, [("nested-too-deep", 1, 35)]),
    Wrong("deep dashes", "- " * 500_000, [("nested-too-deep", 1, 65)]),
    Wrong("deep keys", "? " * 500_000, [("nested-too-deep", 1, 65)]),
    Wrong(
        "deep by alias",
        f"a: &a {'[' * 20}{']' * 20}\nb: {'[' * 13}*a",
        [("nested-too-deep", 2, 17)],
    ),
    Wrong(
        "a tag that runs code",
        "name: !!python/object/apply:os.system [ls]\nrun: b\n",
        [("tag-refused", 1, 7), ("wrong-type", 1, 7)],
        "!!python/object",
    ),
    Wrong(
        "a megabyte aliased",
        "a: &a " + "x" * 900_000 + "\nb: [" + "*a, " * 900 + "]\n",
        [("too-many-values", 2, 49)],
    ),
    Wrong("many values", "a: [" + "1," * 300_000 + "]", [("too-many-values", 1, 20003)]),
    Wrong("many directives", "%TAG !a! b\n" * 60_000 + "--- a", [("too-many-directives", 9, 1)]),
    after_good(
        "a number of a megabyte",
        "resources: {nodes: " + "9" * 900_000 + "}\n",
        ("bad-range", 3, 20),
    ),
    Wrong("two megabytes", GOOD + "#" * 2_000_000, [("file-too-large", 1, 1)]),
]


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(SpecInvalid) as caught:
        parse_spec(text, path="spec.yaml", folder=None)
    return caught.value.problems


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_spec_is_refused_at_its_place(wrong):
    started = time.perf_counter()
    problems = problems_of(wrong.text)
    took_s = time.perf_counter() - started
    assert [(found.code, found.line, found.column) for found in problems] == wrong.expected
    assert wrong.says in problems[0].message + problems[0].remedy
    for found in problems:
        assert found.path == "spec.yaml"
        assert found.message and found.remedy.endswith((".", "?"))
        assert found.code == found.code.lower().replace("_", "-").replace(" ", "-")
        assert found.source.replace("\t", "").isprintable()
        assert len(found.source) < 1000
    assert took_s < 1


@pytest.mark.parametrize(
    "wrong", [wrong for wrong in WRONG if isinstance(wrong.text, str)], ids=lambda wrong: wrong.name
)
def test_the_offending_line_is_shown_as_it_stands_there(wrong):
    lines = wrong.text.split("\n")
    for found in problems_of(wrong.text):
        if found.code != "file-too-large":
            assert found.source.removesuffix("...") in lines[found.line - 1]


@pytest.mark.parametrize(
    "wrong", [wrong for wrong in WRONG if len(wrong.text) < 10_000], ids=lambda wrong: wrong.name
)
def test_the_parser_written_in_python_finds_the_same(wrong, monkeypatch):
    monkeypatch.setattr(tree, "_LOADER", yaml.SafeLoader)
    assert [found.code for found in problems_of(wrong.text)] == [
        code for code, *_ in wrong.expected
    ]


def test_every_problem_is_reported_at_once_and_in_order():
    text = """
name: a/b
rnu: python train.py
resources: {accelerators: [H100:9, A100], nodes: x}
limits: {deadline: 5, budget: 3}
labels: {A: b}
"""
    found = [(problem.code, problem.line) for problem in problems_of(text)]
    assert found == [
        ("key-missing", 2),
        ("bad-name", 2),
        ("unknown-key", 3),
        ("impossible-count", 4),
        ("bad-range", 4),
        ("duration-without-unit", 5),
        ("money-without-currency", 5),
        ("bad-label", 6),
    ]


def test_thousands_of_problems_are_cut_short_and_say_so():
    problems = problems_of("".join(f"resorces{n}: 1\n" for n in range(4000)))
    assert len(problems) == 101
    assert problems[-1].code == "too-many-problems"


def test_a_huge_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    started = time.perf_counter()
    with pytest.raises(SpecInvalid) as caught:
        load_spec(path)
    assert time.perf_counter() - started < 0.5
    assert [problem.code for problem in caught.value.problems] == ["file-too-large"]
    assert caught.value.exit_status == 2
