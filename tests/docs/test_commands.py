"""Every command and option is explained in docs/commands.md, and pages name none that is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

import pages
import tree
from windlass.cli.group import group

PAGE = "docs/commands.md"


def parts(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Each command below, by the words it is called with, and the long names of its options."""
    options = [
        name
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for name in parameter.opts
        if name.startswith("--")
    ]
    yield " ".join(path), options
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from parts(below, (*path, name))


def unexplained(command: click.Command, text: str) -> list[str]:
    """Commands without a heading, and options that their section does not name."""
    problems = []
    for name, options in parts(command, ("windlass",)):
        section = section_of(name, text)
        if section is None:
            problems.append(f"{name}: no heading `## {name}`")
            continue
        problems += [
            f"{name} {option}: not named in its section"
            for option in options
            if f"`{option}" not in section and f" {option}" not in section
        ]
    return problems


def called(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Each call of `windlass` that a page shows: its line, its first words and long options."""
    shown = [
        (block.line + offset, line)
        for block in pages.blocks(text)
        if block.language in ("sh", "bash", "console")
        for offset, line in enumerate(block.text.splitlines(), 1)
    ]
    for number, line in pages.prose(text):
        shown += [(number, span) for span in re.findall(r"`([^`]+)`", line)]
    for number, line in shown:
        words_of = r"[a-z]+(?:-[a-z]+)*(?: +[a-z]+)*"
        found = re.findall(rf"(?<![\w/.-])windlass +({words_of})([^|;&>]*)", line)
        for words, rest in found:
            ours = re.split(r" -- ", rest)[0]  # What follows is another program's.
            yield number, words, re.findall(r"(?<!\S)--[a-z][a-z-]*", ours)


def unknown(command: click.Command, text: str) -> list[str]:
    """Commands and options that a page shows and that do not exist."""
    known = dict(parts(command, ("windlass",)))
    problems = []
    for line, words, options in called(text):
        name = f"windlass {words.split()[0]}"
        if name not in known:
            problems.append(f"{line}: there is no command `{name}`")
            continue
        below = " ".join(["windlass", *words.split()[:2]])
        name = below if below in known else name
        there = {*known[name], *known["windlass"], "--help"}
        problems += [
            f"{line}: `{name}` has no option {option}" for option in options if option not in there
        ]
    return problems


def section_of(name: str, text: str) -> str | None:
    """What stands below the heading of a command; the whole page for the program itself."""
    if " " not in name:
        return text
    found: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ").replace("`", "")
            if found is not None:
                break
            if title == name or title.startswith(f"{name} "):
                found = []
        if found is not None:
            found.append(line)
    return None if found is None else "\n".join(found)


def test_every_command_and_option_is_explained():
    found = unexplained(group(), tree.text(PAGE))
    assert not found, "\n".join(found)


def test_pages_show_only_commands_and_options_that_exist():
    program = group()
    found = [
        f"{name}:{problem}"
        for name in tree.markdown_files()
        for problem in unknown(program, tree.text(name))
    ]
    assert not found, "\n".join(found)


@click.command()
@click.option("--deep")
@click.option("--secret", hidden=True)
def dig(deep: str, secret: str) -> None:
    """A sample."""


SAMPLE = click.Group(
    "windlass", commands={"dig": dig, "garden": click.Group("garden", commands={"dig": dig})}
)


def test_a_command_without_a_section_is_found():
    found = unexplained(SAMPLE, "# Commands\n")
    assert found[0] == "windlass dig: no heading `## windlass dig`"
    assert found[-1] == "windlass garden dig: no heading `## windlass garden dig`"


def test_an_option_that_its_section_does_not_name_is_found():
    text = "## windlass dig\nDigs.\n## windlass other\n`--deep`\n"
    assert "windlass dig --deep: not named in its section" in unexplained(SAMPLE, text)


def test_an_explained_command_is_left_alone():
    text = "## `windlass dig`\n- `--deep N` how deep\n## windlass garden\n"
    assert unexplained(SAMPLE, f"{text}### windlass garden dig\n`--deep`\n") == []


def test_a_command_or_option_that_does_not_exist_is_found():
    text = (
        "Try `windlass dog --deep`.\n```sh\nx | windlass dig --deeper --help -- ls --color\n"
        "windlass garden dig --deep\nwindlass garden dig --wide\n```\n"
    )
    assert unknown(SAMPLE, text) == [
        "3: `windlass dig` has no option --deeper",
        "5: `windlass garden dig` has no option --wide",
        "1: there is no command `windlass dog`",
    ]


def test_prose_about_the_project_is_no_command():
    assert (
        list(called("Then windlass does it; see `windlass.dig` and `pip install windlass`.\n"))
        == []
    )
