"""Looks through a file and says what is stale or wrong in its gcloud commands.

Must not read files nor print. The one place that knows all rules.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace

from windlass.catalog.query import Catalog
from windlass.gcloudlint.command import Command, parsed
from windlass.gcloudlint.edits import corrected
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Finding, Found, Rule, Severity
from windlass.gcloudlint.rules import (
    compute,
    mentions,
    names,
    security,
    storage,
    tpu,
    vertex,
)
from windlass.gcloudlint.shell import Call, assigned, calls
from windlass.gcloudlint.sources import Kind, Passage, passages
from windlass.gcloudlint.surface import Surface, load_surface

RULES: tuple[Rule, ...] = (
    *names.RULES, *compute.RULES, *tpu.RULES, *vertex.RULES, *storage.RULES, *mentions.RULES,
    *security.RULES,
)  # fmt: skip
"""Every rule, in the order of the docs."""

_CHECKS = (
    names.check,
    vertex.check,
    compute.check,
    tpu.check,
    storage.check,
    security.check,
)
_NAMED = re.compile(r"(?<![\w/.`-])gcloud((?: [a-z][a-z-]+){2,7})")
_LOOSE = (Kind.INLINE, Kind.LINE)
SHORT_WORD = 4
"""Shorter ones are near to everything."""
NESTED_MOST = 8
"""How many commands inside of one command are corrected in it."""
_FULL = (Kind.SHELL, Kind.CODE, Kind.LINE, Kind.INLINE)


def lint(
    path: str, text: str, *, catalog: Catalog, surface: Surface | None = None
) -> list[Finding]:
    """Everything there is to say about a file, by line."""
    facts = Facts(surface=surface or load_surface(), catalog=catalog)
    parts = passages(path, text)
    variables = assigned(text)
    findings: list[Finding] = []
    for passage in parts:
        if passage.kind in _FULL:
            findings += _passage(path, passage, facts=facts, variables=variables)
        elif "gcloud " in passage.text:
            findings += _sentence(path, passage, facts=facts)
    seen = {(finding.line, finding.rule) for finding in findings}
    for line, rule, message in _mentioned(text, parts, facts):
        if (line, rule.id) not in seen and not _is_covered(rule, line, seen):
            seen.add((line, rule.id))
            findings.append(_finding(path, line, rule, message))
    return sorted(findings, key=lambda one: (one.line, list(Severity).index(one.severity)))


def _is_covered(rule: Rule, line: int, seen: set[tuple[int, str]]) -> bool:
    """Whether a command's own finding on this line says more about the same thing."""
    return rule is tpu.RUNTIME_OLD and (line, tpu.RUNTIME_MISMATCH.id) in seen


def _mentioned(text: str, parts: list[Passage], facts: Facts) -> Iterator[tuple[int, Rule, str]]:
    breaks = [found.start() for found in re.finditer("\n", text)]
    for offset, rule, message in mentions.mentions(text, facts):
        yield bisect_right(breaks, offset - 1) + 1, rule, message
    yield from mentions.told_by_context(parts)


def _passage(
    path: str, passage: Passage, *, facts: Facts, variables: Mapping[str, str]
) -> list[Finding]:
    is_loose = passage.kind in _LOOSE
    inner: dict[str, str] = {}
    findings: list[Finding] = []
    # Backwards, so that a command inside of another one is corrected before that one is shown.
    for call in reversed(list(calls(passage.text, line=passage.line, variables=variables))):
        if call.program == "gsutil":
            found = list(storage.check_gsutil(call))
        else:
            found = list(_checked(call, facts, is_loose=is_loose))
        placed = list(_placed(path, call, found, inner=inner))
        if placed and placed[0].fixed:
            inner[call.text] = placed[0].fixed
            if len(inner) > NESTED_MOST:
                del inner[next(iter(inner))]
        findings += placed
    return findings


def _checked(call: Call, facts: Facts, *, is_loose: bool) -> Iterator[Found]:
    """What all rules say; goes on with the corrected path when a name in it was wrong."""
    command = parsed(call, facts.surface)
    if command.stranger is None:
        for check in _CHECKS:
            yield from check(command, facts)
        return
    found = names.stranger(command, facts)
    word = call.words[found.at].text
    if is_loose and (not found.edits or not command.names or len(word) < SHORT_WORD):
        return  # Prose that goes on after a group's name.
    yield found
    meant = found.edits[0].text if found.edits else None
    if meant and found.rule is names.UNKNOWN_COMMAND and found.edits[0].at == command.stranger:
        yield from _checked(_with_word(call, command, meant), facts, is_loose=True)


def _with_word(call: Call, command: Command, meant: str) -> Call:
    at = command.stranger or 0
    word = replace(call.words[at], raw=meant, text=meant)
    return replace(call, words=(*call.words[:at], word, *call.words[at + 1 :]))


def _placed(
    path: str, call: Call, found: list[Found], *, inner: Mapping[str, str]
) -> Iterator[Finding]:
    """The findings about one call, each with the call after all edits but those of hints."""
    edits = [edit for one in found if one.rule.severity != Severity.HINT for edit in one.edits]
    fixed = corrected(call, edits)
    if any("gcloud" in word.raw for word in call.words[1:]):
        for before, after in inner.items():
            fixed = fixed.replace(before, after)
    for one in found:
        is_hint = one.rule.severity == Severity.HINT
        yield Finding(
            path=path,
            line=call.words[one.at].line,
            rule=one.rule.id,
            severity=one.rule.severity,
            message=one.message,
            command=call.text,
            fixed=corrected(call, [*edits, *one.edits]) if is_hint and one.edits else fixed,
        )


def _sentence(path: str, passage: Passage, *, facts: Facts) -> Iterator[Finding]:
    """Commands that a sentence names: only a near miss of a name is told."""
    for named in _NAMED.finditer(passage.text):
        for call in calls("gcloud" + named[1], line=passage.line, variables={}):
            command = parsed(call, facts.surface)
            if command.stranger is None or not command.names:
                continue
            found = names.stranger(command, facts)
            if found.rule is names.UNKNOWN_COMMAND and _is_plural(command, found):
                yield _finding(path, passage.line, found.rule, found.message)


def _is_plural(command: Command, found: Found) -> bool:
    """Whether only an s is missing: in prose anything more may be an ordinary word."""
    word = command.call.words[found.at].text
    return any(edit.text == f"{word}s" for edit in found.edits)


def _finding(path: str, line: int, rule: Rule, message: str) -> Finding:
    return Finding(path=path, line=line, rule=rule.id, severity=rule.severity, message=message)
