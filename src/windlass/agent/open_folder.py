"""Which folder a URL names, and reading what has to be there for anything to begin.

Must not know what is in it. Python 3.9, standard library only.
"""

from __future__ import annotations

import time
from typing import Optional

from windlass.agent.folder import DiskFolder, Folder

AGAIN_S = 1.0


def open_folder(url: str) -> Folder:
    """The folder a URL names: `file://` on a disk, `gs://` in a bucket."""
    scheme, _, rest = url.partition("://")
    if scheme == "gs":
        from windlass.agent.bucket import BucketFolder  # HTTP and TLS are slow to import.

        return BucketFolder(url)
    if scheme != "file":
        raise ValueError(f"a run folder must be a file:// or gs:// URL, not {url!r}")
    path = rest[rest.find("/") :]
    if "%" in path:
        from urllib.parse import unquote  # Slow to import, and most paths need no quoting.

        path = unquote(path)
    return DiskFolder(path)


def read_patiently(folder: Folder, name: str, *, seconds: float) -> Optional[bytes]:
    """The object, or None when there is none, though the folder may fail for a while.

    Raises:
        OSError: it failed for so long.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return folder.read(name)
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(AGAIN_S)
