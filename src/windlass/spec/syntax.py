"""What the YAML parser complains about, in plain words with something to do about it.

Must not parse anything itself.
"""

from __future__ import annotations

import yaml

from windlass.spec.problems import At, Problems

# What the parser says (a part of it, of either parser), in plain words, with a remedy.
_PLAIN_WORDS = (
    (
        "mapping values are not allowed",
        "a second `key:` in one line, or a line indented too far",
        "Indent it like its neighbours, or quote the value if it holds a colon and a space.",
    ),
    (
        "found unexpected end of stream",
        "a quote is opened here and never closed",
        "Close the quote.",
    ),
    (
        "unknown escape",
        "a backslash in double quotes starts an escape that does not exist",
        "Double the backslash, or use single quotes.",
    ),
    (
        "could not find expected ':'",
        "a key without a colon",
        "Write `key: value`, with a space after the colon.",
    ),
    (
        "expected ',' or ']'",
        "a `[` is not closed, or a comma is missing",
        "Close the list with `]` and put commas between its values.",
    ),
    (
        "expected ',' or '}'",
        "a `{` is not closed, or a comma is missing",
        "Close the mapping with `}` and put commas between its keys.",
    ),
    (
        "expected node content",
        "a value is missing here",
        "Write the value, or close the bracket; quote a value that starts with a symbol.",
    ),
    (
        "alphabetic or numeric",
        "a value that starts with `*` or `&` must be quoted",
        "Put the value in quotes.",
    ),
    (
        "did not find expected",
        "this line does not fit the lines above it",
        "Indent it like its neighbours, with spaces; quote values that start with a symbol.",
    ),
    (
        "<block end>",
        "this line does not fit the lines above it",
        "Indent it like its neighbours, with spaces; quote values that start with a symbol.",
    ),
    (
        "cannot start any token",
        "a value cannot start with this character",
        "Put the value in quotes.",
    ),
    (
        "undefined tag handle",
        "a value cannot start with `!`",
        "Put the value in quotes.",
    ),
)
_OTHERWISE = "Put the value in quotes, or compare the indentation with the lines around it."

# Where these are found is the end of the file; where they began is what the user must see.
_SEEN_TOO_LATE = ("unexpected end of stream", "expected ',' or")


def add_syntax_problem(error: yaml.YAMLError, problems: Problems) -> None:
    """Add the one problem that stopped the parser."""
    said = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    if context_mark is not None and any(words in said for words in _SEEN_TOO_LATE):
        mark = context_mark
    place = At(mark.line + 1, mark.column + 1) if mark is not None else At()
    end = problems.at(len(problems.text.rstrip()))
    if place.line > end.line:
        place = end
    message, remedy = _in_plain_words(said)
    source = problems.line(place.line)
    if source[place.column - 1 : place.column] == "\t" or _is_indented_by_tab(source):
        message, remedy = "the line is indented with a tab", "Indent with spaces."
    problems.add("yaml-syntax", place, message=f"{message} (YAML: {said})", remedy=remedy)


def _in_plain_words(said: str) -> tuple[str, str]:
    for words, message, remedy in _PLAIN_WORDS:
        if words in said:
            return message, remedy
    return "this is not YAML", _OTHERWISE


def _is_indented_by_tab(source: str) -> bool:
    return "\t" in source[: len(source) - len(source.lstrip())]
