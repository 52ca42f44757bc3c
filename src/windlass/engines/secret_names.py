"""Secrets by the names that Secret Manager has for them: what nodes are told in place of values.

Must not ask anything of Google. Pure. No value ever passes here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from windlass.errors import EngineRejected

NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
FULL = re.compile(
    r"(?P<secret>projects/[^/\s]+(?:/locations/[a-z0-9-]+)?/secrets/[A-Za-z0-9_-]{1,255})"
    r"(?:/versions/(?P<version>[A-Za-z0-9_-]+))?"
)
NEWEST = "latest"


def references(secrets: Mapping[str, str], project: str) -> dict[str, str]:
    """Full names of versions, by names in the environment. A bare name is the newest version of a
    secret of the project. Raises EngineRejected for what cannot be one."""
    return {name: _reference(name, source, project) for name, source in secrets.items()}


def _reference(name: str, source: str, project: str) -> str:
    if NAME.fullmatch(source):
        return f"projects/{project}/secrets/{source}/versions/{NEWEST}"
    full = FULL.fullmatch(source)
    if full is None:
        raise EngineRejected(
            f"secrets.{name}: {source!r} is no name of Secret Manager's",
            remedy="Write a secret's name, or `projects/PROJECT/secrets/NAME/versions/1`.",
        )
    return f"{full['secret']}/versions/{full['version'] or NEWEST}"
