"""What kept a node from starting its ranks, told from what its agent gave as the reason.

Must not know runs or attempts, nor what ranks print (symptoms.py does). Pure.
"""

from __future__ import annotations

import re

from windlass.controller.symptoms import Symptom

SECRET = "secret-unreadable"

# As windlass.agent.secrets writes it, with the command that helps at the end where it knows one.
_SECRET = re.compile(
    r"the secret (?P<name>\S+)(?: \((?P<reference>\S+)\))? "
    r"(?P<what>cannot be read|is no text that an environment can hold)"
    r"(?:: (?P<status>\d{3})? ?(?P<said>.*?)\.?)?(?: (?P<cure>Allow .*))?",
    re.DOTALL,
)
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
