"""gsutil as `gcloud storage` says it, and `gcloud config get-value`.

Must not know other services.
"""

from __future__ import annotations

from collections.abc import Iterator

from windlass.gcloudlint.command import Command
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Edit, Found, Rule, Severity
from windlass.gcloudlint.shell import Call

GSUTIL = Rule(
    id="gsutil",
    severity=Severity.STALE,
    summary="`gcloud storage` is faster, and developed further",
)
GET_VALUE = Rule(
    id="config-get-value", severity=Severity.STALE, summary="`config get-value` is `config get`"
)
RULES = (GSUTIL, GET_VALUE)

# gsutil's command, what it is called now, and how its options are spelt there. An option that
# takes a value ends in `=`; what is not listed here is left for a person to move.
COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "cp": ("cp", {"-r": "-r", "-R": "-r", "-n": "-n"}),
    "mv": ("mv", {"-n": "-n"}),
    "rm": ("rm", {"-r": "-r", "-R": "-r", "-f": "--continue-on-error", "-a": "-a"}),
    "ls": ("ls", {"-l": "-l", "-r": "-r", "-R": "-r", "-L": "-L", "-a": "-a"}),
    "cat": ("cat", {"-r": "-r="}),
    "du": ("du", {"-s": "-s", "-c": "-c"}),
    "hash": ("hash", {}),
    "stat": ("objects describe", {}),
    "mb": (
        "buckets create",
        {"-l": "--location=", "-p": "--project=", "-c": "--default-storage-class="},
    ),
    "rb": ("buckets delete", {}),
    "rsync": (
        "rsync",
        {"-r": "-r", "-R": "-r", "-d": "--delete-unmatched-destination-objects", "-x": "-x=",
         "-c": "--checksums-only", "-n": "--dry-run"},
    ),
}  # fmt: skip


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """What gcloud itself has renamed."""
    if command.path == "config get-value":
        at = command.places[-1]
        message = "`gcloud config get` is the newer form"
        yield Found(rule=GET_VALUE, message=message, at=at, edits=(Edit(at=at, text="get"),))


def check_gsutil(call: Call) -> Iterator[Found]:
    """A call of gsutil, as `gcloud storage` says it where that can be told."""
    edits = _moved(call)
    message = "gcloud storage does this, faster, and is the one that is developed"
    yield Found(rule=GSUTIL, message=message, edits=edits)


def _moved(call: Call) -> tuple[Edit, ...]:
    """The edits; none when an option has no counterpart that is known here."""
    at = 1
    edits = [Edit(at=0, text="gcloud storage")]
    while at < len(call.words) and call.words[at].text in ("-m", "-q"):
        # gcloud storage works in parallel by itself; -q is a flag of gcloud's own.
        edits.append(Edit(at=at, text="-q" if call.words[at].text == "-q" else None))
        at += 1
    if at >= len(call.words) or call.words[at].text not in COMMANDS:
        return ()
    name, options = COMMANDS[call.words[at].text]
    edits.append(Edit(at=at, text=name))
    at += 1
    while at < len(call.words):
        word = call.words[at].text
        if word.startswith("-") and word != "-":
            spelt = options.get(word)
            if spelt is None:
                return ()
            if spelt.endswith("=") and at + 1 < len(call.words):
                is_long = spelt.startswith("--")
                raw = call.words[at + 1].raw
                edits.append(
                    Edit(at=at, text=f"{spelt}{raw}" if is_long else f"{spelt[:-1]} {raw}")
                )
                edits.append(Edit(at=at + 1, text=None))
                at += 1
            else:
                edits.append(Edit(at=at, text=spelt))
        at += 1
    return tuple(edits)
