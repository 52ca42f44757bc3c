"""Finds calls of programs in shell text and takes them apart into words, each with its line.

Must not know what a program's words mean. It is no shell: it follows quotes, continuations,
substitutions, redirections and comments as far as a tutorial needs, and never fails.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PROGRAMS = ("gcloud", "gsutil")
LONGEST = 20_000
"""Characters of a call that are read: what is longer is no command."""
NESTED_LONGEST = 5_000
LOOK_BACK = 400
"""Characters before a call that tell whether it is one."""

_PROGRAM = re.compile(rf"(?<![\w./$-])({'|'.join(PROGRAMS)})(?=[ \t\\])")
# What may stand before a call on its line: nothing, a prompt, another command's end, a keyword.
_BEFORE = re.compile(
    r"""(?:^|[|;&({!`]|\$\()[ \t]*
    (?:(?:[$%>!+-]|then|do|else|if|while|until|sudo|time|exec|nohup|env|xargs|RUN|ENTRYPOINT|CMD
      |(?:timeout|retry)[ \t]+\S+|[A-Za-z_]\w*=\S*|-\w+)[ \t]+)*$
    |(?:-c|--command|\beval|\b(?:system|run|call|check_call|check_output|Popen)\()
    [ =]*f?["']{1,3}$""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"(?:^|[ \t])#")
_ASSIGNED = re.compile(
    r"""^[ \t]*(?:export[ \t]+|\$[ \t]+|ENV[ \t]+|ARG[ \t]+)*([A-Za-z_]\w*)=
    (?:"([^"$`\n]*)"|'([^'\n]*)'|([^\s"'$`;&|#()]*))[ \t]*(?:[;#\\].*)?$""",
    re.VERBOSE | re.MULTILINE,
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)(?::-([^}$]*))?\}?")
_PLAIN = re.compile(r"[^\s\\'\"$`;|&()<>#]+|#")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w .-]{0,40}>")
_REDIRECTION = re.compile(r"(?:\d|&)?(?:>>|>&|<<<?-?|<|>)[ \t]*(?:&?\d|['\"]?[\w./${}~-]+['\"]?)?")
_OPENER = re.compile(r"[\"'`]|\$\(|[()]|\\.", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a call."""

    raw: str
    """As it is written."""
    text: str
    """As the program gets it, with the variables that the file sets."""
    line: int
    is_open: bool
    """Whether part of it is known only when it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A program and its words; the program's own name is the first."""

    words: tuple[Word, ...]
    line: int

    @property
    def program(self) -> str:
        """What is called."""
        return self.words[0].text

    @property
    def text(self) -> str:
        """As it is written, on one line."""
        return " ".join(word.raw for word in self.words)


def assigned(text: str) -> dict[str, str]:
    """The variables that a text sets once, to something that is known."""
    values: dict[str, set[str]] = {}
    for found in _ASSIGNED.finditer(text):
        values.setdefault(found[1], set()).add(found[2] or found[3] or found[4] or "")
    return {name: one for name, [*many] in values.items() if len(many) == 1 for one in many if one}


def calls(text: str, *, line: int, variables: Mapping[str, str]) -> Iterator[Call]:
    """Every call in a text whose first line has this number, those inside of others too."""
    breaks: list[int] | None = None
    for found in _PROGRAM.finditer(text):
        begin = _logical_begin(text, found.start())
        before = re.sub(r"\\\r?\n", " ", text[begin : found.start()])
        if not _BEFORE.search(before) or _COMMENT.search(_unquoted(before)):
            continue
        if breaks is None:
            breaks = [at.start() for at in re.finditer("\n", text)]
        reader = _Reader(
            text[found.start() : found.start() + LONGEST],
            closing=_closing(before),
            variables=variables,
        )
        words = [
            Word(
                raw=raw,
                text=said,
                line=line + bisect_right(breaks, found.start() + at - 1),
                is_open=is_open,
            )
            for at, raw, said, is_open in reader.words()
        ]
        yield Call(words=tuple(words), line=words[0].line)


def _logical_begin(text: str, at: int) -> int:
    """Where the line begins that this is on, over continuations; only so far back."""
    begin = text.rfind("\n", 0, at) + 1
    while begin > 1 and at - begin < LOOK_BACK and text[begin - 2 : begin] == "\\\n":
        begin = text.rfind("\n", 0, begin - 1) + 1
    return max(begin, at - LOOK_BACK)


def _unquoted(before: str) -> str:
    return re.sub(r"\"[^\"]*\"|'[^']*'", "", before)


def _closing(before: str) -> str:
    """The quote that the call stands in, which ends it."""
    tail = before.rstrip()
    if tail.endswith(("$(", "(")):
        return ""
    if tail.endswith("`") or before.count("`") % 2:
        return "`"
    for quote in "\"'":
        if before.count(quote) % 2:
            return quote
    return ""


class _Reader:
    """Reads one call from the beginning of a text."""

    def __init__(self, text: str, *, closing: str, variables: Mapping[str, str]) -> None:
        self._text = text
        self._closing = closing
        self._variables = variables
        self._at = 0
        self._said: list[str] = []
        self._is_open = False

    def words(self) -> Iterator[tuple[int, str, str, bool]]:
        """Offset, as written, as meant, and whether part of it is not known."""
        while self._skip_blanks():
            begin = self._at
            self._said, self._is_open = [], False
            while self._piece():
                pass
            if self._at == begin:
                return
            yield begin, self._text[begin : self._at], "".join(self._said), self._is_open

    def _skip_blanks(self) -> bool:
        """Go to the next word; False at the end of the call."""
        blanks = re.compile(r"(?:[ \t]|\\\r?\n)+")
        while self._at < len(self._text):
            if found := blanks.match(self._text, self._at):
                self._at = found.end()
            elif _PLACEHOLDER.match(self._text, self._at):
                return True
            elif found := _REDIRECTION.match(self._text, self._at):
                self._at = found.end()
            else:
                here = self._text[self._at]
                return here not in "\r\n;|&)#" and here != self._closing
        return False

    def _piece(self) -> bool:
        """Take one piece of a word; False at its end."""
        text, at = self._text, self._at
        here = text[at : at + 1]
        if not here or here in " \t\r\n;|&)<>" or here == self._closing:
            return bool(here == "<" and self._take_placeholder())
        if here == "\\":
            if text[at + 1 : at + 3].lstrip("\r").startswith("\n"):
                return False
            return self._take(at + 2, text[at + 1 : at + 2])
        if here == "'":
            end = text.find("'", at + 1)
            return self._take(end + 1, text[at + 1 : end]) if end >= 0 else self._take(at + 1, here)
        if here == '"':
            end = _matching(text, at + 1, '"')
            return self._take(end, self._expanded(text[at + 1 : end - 1]))
        if here == "$" and text[at + 1 : at + 2] == "(":
            return self._take_unknown(_matching(text, at + 2, ")"))
        if here == "`":
            return self._take_unknown(_matching(text, at + 1, "`"))
        if here == "$" and (found := _VARIABLE.match(text, at)):
            return self._take(found.end(), self._expanded(found[0]))
        found = _PLAIN.match(text, at)
        return self._take(found.end() if found else at + 1, found[0] if found else here)

    def _take(self, end: int, said: str) -> bool:
        self._said.append(said)
        self._at = min(end, len(self._text))
        return True

    def _take_unknown(self, end: int) -> bool:
        self._is_open = True
        return self._take(end, self._text[self._at : end])

    def _take_placeholder(self) -> bool:
        found = _PLACEHOLDER.match(self._text, self._at)
        return bool(found and self._take_unknown(found.end()))

    def _expanded(self, text: str) -> str:
        """With the variables that are known; marks the word open when one is not."""

        def value(found: re.Match[str]) -> str:
            known = self._variables.get(found[1], found[2])
            if known is None:
                self._is_open = True
                return found[0]
            return known

        if "$(" in text or "`" in text:
            self._is_open = True
        return _VARIABLE.sub(value, text.replace("\\\n", ""))


def _matching(text: str, begin: int, closing: str) -> int:
    """Just behind the mark that closes; the end of the line when there is none near."""
    stack, at, limit = [closing], begin, min(len(text), begin + NESTED_LONGEST)
    while found := _OPENER.search(text, at, limit):
        mark, at = found[0], found.end()
        if mark == stack[-1]:
            stack.pop()
            if not stack:
                return at
        elif stack[-1] == "'" or mark[0] == "\\":
            continue
        elif mark == "$(" or (mark == "(" and stack[-1] == ")"):
            stack.append(")")
        elif mark in "\"'`" and stack[-1] == ")":
            stack.append(mark)
    end = text.find("\n", begin, limit)
    return end if end >= 0 else limit
