"""Where a policy is kept: a file, a bucket, or a web server.

Must not judge what it says. A policy that cannot be had is an error: without it nothing may start.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx

from windlass.errors import OptionRefused
from windlass.google.session import Ask, Session, error_of
from windlass.policy.document import Policy, load_policy, parse_policy

BUCKET_URL = "gs://"
WEB_URL = "https://"
OBJECT = "https://storage.googleapis.com/storage/v1/b/{}/o/{}"


def read_policy(where: str | None, *, home: Path, session: Callable[[], Session]) -> Policy | None:
    """The policy at a path (counted from the home folder), `gs://` or `https://`; None where
    nobody names one."""
    if where is None:
        return None
    if where.startswith(BUCKET_URL):
        return parse_policy(_from_bucket(where, session()), path=where)
    if where.startswith(WEB_URL):
        return parse_policy(_from_web(where), path=where)
    return load_policy(home / Path(where).expanduser())


def _from_bucket(url: str, session: Session) -> bytes:
    bucket, _, name = url.removeprefix(BUCKET_URL).partition("/")
    address = OBJECT.format(bucket, quote(name, safe=""))
    ask = Ask(method="GET", url=address, query={"alt": "media"})
    what = f"reading the policy {url}"
    answer = session.send(ask, what=what, is_safe=True)
    if answer.status_code == 404:
        raise _missing(url)
    if answer.is_error:
        raise error_of(answer, what=what)
    return answer.content


def _from_web(url: str) -> bytes:
    try:
        answer = httpx.get(url, timeout=20.0, follow_redirects=False)
        answer.raise_for_status()
    except httpx.HTTPError as exc:
        raise OptionRefused(
            f"the policy {url} cannot be read: {exc}",
            remedy="Check `policy:` in config.yaml; nothing starts without it.",
        ) from exc
    return answer.content


def _missing(url: str) -> OptionRefused:
    return OptionRefused(
        f"there is no policy {url}",
        remedy="Check `policy:` in config.yaml; nothing starts without it.",
    )
