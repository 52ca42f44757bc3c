"""Commands, flags and values that gcloud does not have, or has elsewhere.

Must not know what any command does.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache

from windlass.gcloudlint.command import Command, Flag, choices_of
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Edit, Found, Rule, Severity

UNKNOWN_COMMAND = Rule(
    id="unknown-command",
    severity=Severity.ERROR,
    summary="gcloud has no such group or command; a near or newer name is proposed",
)
UNKNOWN_FLAG = Rule(
    id="unknown-flag", severity=Severity.ERROR, summary="The command has no such flag"
)
UNKNOWN_VALUE = Rule(
    id="unknown-value", severity=Severity.ERROR, summary="The flag takes one of a few values"
)
OTHER_TRACK = Rule(
    id="other-track",
    severity=Severity.ERROR,
    summary="The command, flag or value exists only in `gcloud beta` or `gcloud alpha`",
)
NOW_GA = Rule(
    id="now-ga",
    severity=Severity.STALE,
    summary="`gcloud alpha` or `gcloud beta` where plain gcloud has the command and its flags",
)
RULES = (UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_VALUE, OTHER_TRACK, NOW_GA)

# Names that people give a group, and its own; each stands in the same place of the tree.
RENAMED = {
    "compute instance": "instances",
    "compute vms": "instances",
    "compute tpu": "tpus",
    "container node-pool": "node-pools",
    "container cluster": "clusters",
    "ai custom-job": "custom-jobs",
    "storage bucket": "buckets",
}
# Flags that tutorials name and gcloud has not, with what to do instead.
ADVICE = {
    ("ai custom-jobs create", "--timeout"): (
        "put `scheduling: {timeout: 7200s}` into the file of --config",
        None,
    ),
    ("compute instances create", "--on-host-maintenance"): (
        "plain gcloud calls it --maintenance-policy here",
        "--maintenance-policy",
    ),
    ("compute instances create", "--request-valid-for-duration"): (
        "no track of gcloud has it: ask the API, or use resize requests of a managed group",
        None,
    ),
}
_SEARCHED = ("beta", "alpha")


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """Look every name of a command up."""
    if command.stranger is not None:
        yield stranger(command, facts)
        return
    if not facts.surface.is_command(command.full_path):
        return
    for flag in command.flags:
        yield from _flag(command, flag, facts)
    yield from _is_ga(command, facts)


def stranger(command: Command, facts: Facts) -> Found:
    """About the word of the path that gcloud does not know."""
    at = command.stranger or 0
    word = command.call.words[at].text
    path = f"{command.path} {word}".strip()
    for track in ("", *_SEARCHED):
        if track != command.track and facts.surface.has(f"{track} {path}".strip()):
            return _elsewhere(command, f"`gcloud {path}`", at=at, track=track)
    children = facts.surface.children(command.full_path)
    meant = RENAMED.get(path) or _near(word, tuple(children), 0.75)
    said = f"there is no `gcloud {' '.join(filter(None, (command.full_path, word)))}`"
    edits = (Edit(at=at, text=meant),) if meant else ()
    wanted = f"; it is `{meant}`" if meant else ""
    return Found(rule=UNKNOWN_COMMAND, message=said + wanted, at=at, edits=edits)


@cache
def _near(name: str, known: tuple[str, ...], cutoff: float) -> str:
    """The name that was probably meant; nothing when none is near. Slow, hence remembered."""
    return next(iter(difflib.get_close_matches(name[:80], known, n=1, cutoff=cutoff)), "")


def _elsewhere(command: Command, what: str, *, at: int, track: str) -> Found:
    """Something that another track has."""
    name = f"gcloud {track}".strip()
    if command.track:
        edit = Edit(at=command.places[0], text=track or None)
    else:
        edit = Edit(at=0, text=f"gcloud {track}")
    message = f"{what} exists only in `{name}`" if track else f"{what} has no {command.track} form"
    return Found(rule=OTHER_TRACK, message=message, at=at, edits=(edit,))


def _flag(command: Command, flag: Flag, facts: Facts) -> Iterator[Found]:
    known = facts.surface.flags(command.full_path)
    if not flag.is_known:
        yield _unknown_flag(command, flag, facts)
        return
    choices = choices_of(known.get(flag.name))
    if choices and flag.value and not flag.is_open and not _accepts(choices, flag.value):
        for track in _SEARCHED:
            below = facts.surface.flags(f"{track} {command.path}").get(flag.name)
            if track != command.track and _accepts(choices_of(below), flag.value):
                what = f"`{flag.name}={flag.value}` of `gcloud {command.path}`"
                yield _elsewhere(command, what, at=flag.at, track=track)
                return
        if not flag.is_literal:
            return  # A place to fill in.
        message = f"{flag.name} takes {', '.join(choices[:12])}; not {flag.value!r}"
        yield Found(rule=UNKNOWN_VALUE, message=message, at=flag.at)


def _unknown_flag(command: Command, flag: Flag, facts: Facts) -> Found:
    if advice := ADVICE.get((command.path, flag.name)):
        message = f"`gcloud {command.full_path}` has no {flag.name}: {advice[0]}"
        edits = flag.become(advice[1], flag.value) if advice[1] else flag.drop()
        return Found(rule=UNKNOWN_FLAG, message=message, at=flag.at, edits=edits)
    for track in _SEARCHED:
        if track != command.track and flag.name in facts.surface.flags(f"{track} {command.path}"):
            what = f"{flag.name} of `gcloud {command.path}`"
            return _elsewhere(command, what, at=flag.at, track=track)
    known = facts.surface.flags(command.full_path)
    near = _near(flag.name, tuple(known), 0.8)
    message = f"`gcloud {command.full_path}` has no {flag.name}"
    if not near:
        return Found(rule=UNKNOWN_FLAG, message=message, at=flag.at)
    edits = flag.become(near, flag.value or None)
    return Found(rule=UNKNOWN_FLAG, message=f"{message}; it is {near}", at=flag.at, edits=edits)


def _is_ga(command: Command, facts: Facts) -> Iterator[Found]:
    if command.track not in _SEARCHED or not facts.surface.is_command(command.path):
        return
    known = facts.surface.flags(command.path)
    for flag in command.flags:
        plain = flag.name if flag.name in known else flag.name.replace("--no-", "--", 1)
        choices = choices_of(known.get(plain))
        if plain not in known or (choices and not _accepts(choices, flag.value)):
            return
    message = f"plain `gcloud {command.path}` does this too"
    edits = (Edit(at=command.places[0], text=None),)
    yield Found(rule=NOW_GA, message=message, at=command.places[0], edits=edits)


def _accepts(choices: tuple[str, ...], value: str) -> bool:
    """As gcloud compares: without case, and with either hyphen; a list when every part is one."""
    folded = {choice.lower().replace("_", "-") for choice in choices}
    return all(part.lower().replace("_", "-") in folded for part in value.split(","))
