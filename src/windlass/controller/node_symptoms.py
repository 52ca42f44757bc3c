"""What kept a node from starting its ranks, told from what its agent gave as the reason.

Must not know runs or attempts, nor what ranks print (symptoms.py does). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from windlass.controller.symptoms import Symptom

SECRET = "secret-unreadable"

# As windlass.agent.secrets writes it, with the command that helps at the end where it knows one.
_SECRET = re.compile(
    r"the secret (?P<name>\S+)(?: \((?P<reference>\S+)\))? "
    r"(?P<what>cannot be read|is no text that an environment can hold)"
    r"(?:: (?P<status>\d{3})? ?(?P<said>.*?)\.?)?(?: (?P<cure>Allow .*))?",
    re.DOTALL,
)
# As the start-up script of engines/bootstrap.py writes it.
_UNFETCHED = re.compile(r"the agent cannot be fetched from gs://(?P<bucket>[^/]+)/\S+: (?P<why>.*)")
_GLOBAL = re.compile(r"projects/(?P<project>[^/]+)/secrets/(?P<secret>[^/]+)/versions/.*")


def symptom_of_node(reason: str) -> Symptom:
    """What the reason points to; without a sign it is told as it is."""
    match = _SECRET.fullmatch(reason)
    if match is None:
        return Symptom(
            what=reason.rstrip("."), remedy="Mend what it names, and retry: no rank was started."
        )
    source = match["reference"] or match["name"]
    said = (f"Secret Manager said of {source}: {match['said']}.",) if match["said"] else ()
    return Symptom(
        name=SECRET,
        what=f"the secret {match['name']} {match['what']}",
        why=(*said, "No rank was started."),
        remedy=_remedy(match),
    )


def cure_of_early(lines: Sequence[str]) -> tuple[str, ...]:
    """What would help machines of which no agent was heard; nothing where they do not say."""
    found = [match for match in map(_UNFETCHED.search, lines) if match is not None]
    if not found:
        return ()
    bucket, why = found[-1]["bucket"], found[-1]["why"]
    if "403" in why:
        return (
            f"Their service account may not read gs://{bucket}: `windlass account up` makes one "
            f"that may, and `gcloud storage buckets add-iam-policy-binding gs://{bucket} "
            "--member=serviceAccount:EMAIL --role=roles/storage.objectUser` allows another.",
        )
    if "HTTP Error" in why:
        return ()  # They do reach it, and say themselves what it answers.
    return (
        f"They do not reach gs://{bucket}: `windlass doctor --on gcp` says whether their network "
        "has Private Google Access, and `windlass network up` makes one that has.",
    )


def _remedy(match: re.Match[str]) -> str:
    if match["cure"]:
        return f"{match['cure']}. Then retry."
    place = _GLOBAL.fullmatch(match["reference"] or "")
    if match["status"] == "404" and place is not None:
        rest = f"{place['secret']} --project={place['project']} --data-file=-`"
        return (
            f'Put it there: `printf %s "${match["name"]}" | gcloud secrets create {rest}, or '
            f"`gcloud secrets versions add {rest} where only the version is missing. Then retry."
        )
    return "Mend the secret, or name another one in `secrets:` of the spec; then retry."
