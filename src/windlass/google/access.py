"""The way to Google of one home: one client, one set of credentials, made when first needed.

Must not call anything by itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import httpx

from windlass.agent.bucket import BucketFolder
from windlass.agent.storage import Storage
from windlass.errors import EngineTransient, OptionRefused
from windlass.google.credentials import AmbientBearer
from windlass.google.session import Session

PROJECT_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")


def chosen_project(configured: str | None, caller: Mapping[str, str], *, file: Path) -> str:
    """The project that things are rented in: the configuration's, else the environment's."""
    found = configured or next(filter(None, map(caller.get, PROJECT_VARIABLES)), "")
    if not found:
        raise OptionRefused(
            "nobody has said which Google Cloud project to use",
            remedy=f"Write `project: my-project` into {file}.",
        )
    return found


class Access:
    """Calls and folders, as whoever the machine's credentials say."""

    def __init__(self) -> None:
        client = httpx.Client()
        self._bearer = AmbientBearer(client)
        self.session = Session(client, self._bearer)
        # Whoever was given the session may outlive us, and nobody else closes the client.
        weakref.finalize(self.session, client.close)

    def open_folder(self, url: str) -> BucketFolder:
        """A folder in a bucket. Credentials are looked for when something is first asked."""
        return BucketFolder(url, storage=self._storage)

    @cached_property
    def _storage(self) -> Storage:
        """One for all folders, and its patience: a controller looks at many runs, and none may
        hold up the others for long."""
        return Storage(self._token)

    def _token(self, is_anew: bool) -> str:
        try:
            return self._bearer.token(anew=is_anew)
        except EngineTransient as error:
            raise ConnectionError(error.message) from error  # As any other cut of the line.
