"""The way to Google of one home: one client, one set of credentials, made when first needed.

Must not call anything by itself.
"""

from __future__ import annotations

import shlex
import sys
import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import httpx

from windlass.agent.bucket import BucketFolder
from windlass.agent.storage import BucketError, Storage
from windlass.agent.tokens import COMMAND as TOKEN_VARIABLE
from windlass.errors import EngineTransient, OptionRefused
from windlass.google.credentials import AmbientBearer
from windlass.google.session import Session

ACCOUNT_VARIABLE = "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT"
PROJECT_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")


def chosen_project(configured: str | None, caller: Mapping[str, str], *, file: Path) -> str:
    """The project that things are rented in: the configuration's, else the environment's."""
    found = configured or next(filter(None, map(caller.get, PROJECT_VARIABLES)), "")
    if not found:
        raise OptionRefused(
            "nobody has said which Google Cloud project to use",
            remedy=f"Write `project: my-project` into {file}; or, for the twin's, give the command "
            "as `windlass twin exec -- windlass …`.",
        )
    return found


def chosen_account(configured: str | None, caller: Mapping[str, str]) -> str:
    """The service account to act as: the configuration's, else the one that gcloud would take;
    empty for none."""
    return configured or caller.get(ACCOUNT_VARIABLE, "")


class Access:
    """Calls and folders, as whoever the machine's credentials say, or as an account that they may
    act for."""

    def __init__(self, *, impersonate: str = "") -> None:
        self._impersonate = impersonate
        client = httpx.Client()
        self._bearer = AmbientBearer(client, impersonate=impersonate)
        self.session = Session(client, self._bearer)
        # Whoever was given the session may outlive us, and nobody else closes the client.
        weakref.finalize(self.session, client.close)

    def token_command(self) -> dict[str, str]:
        """For agents and ranks on the caller's own machine, which have no metadata server to ask
        for tokens: the variable that names a program to ask."""
        words = [sys.executable, "-m", "windlass.google.token", self._impersonate]
        return {TOKEN_VARIABLE: shlex.join(word for word in words if word)}

    def open_folder(self, url: str) -> BucketFolder:
        """A folder in a bucket. Credentials are looked for when something is first asked."""
        return BucketFolder(url, storage=self._storage)

    @cached_property
    def _storage(self) -> Storage:
        """One for all folders, and its patience: a controller looks at many runs, and none may
        hold up the others for long."""
        return Storage(self._token)

    def _token(self, is_anew: bool) -> str:
        """See Token: what may work next time is to a folder what a disk's trouble would be."""
        try:
            return self._bearer.token(anew=is_anew)
        except EngineTransient as exc:
            raise BucketError(exc.message) from exc
