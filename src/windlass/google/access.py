"""The way to Google of one home: one client, one set of credentials, made when first needed.

Must not call anything by itself.
"""

from __future__ import annotations

from functools import cached_property

import httpx

from windlass.agent.bucket import BucketFolder
from windlass.agent.storage import Storage
from windlass.google.credentials import AmbientBearer
from windlass.google.session import Session


class Access:
    """Calls and folders, as whoever the machine's credentials say."""

    def __init__(self) -> None:
        client = httpx.Client()
        self._bearer = AmbientBearer(client)
        self.session = Session(client, self._bearer)

    def open_folder(self, url: str) -> BucketFolder:
        """A folder in a bucket. Credentials are looked for when something is first asked."""
        return BucketFolder(url, storage=self._storage)

    @cached_property
    def _storage(self) -> Storage:
        """One for all folders, and its patience: a controller looks at many runs, and none may
        hold up the others for long."""
        return Storage(lambda is_anew: self._bearer.token(anew=is_anew))
