"""What a twin needs that is not installed with Windlass itself.

Must not import it.
"""

from __future__ import annotations

NEEDED = {"cryptography": "cryptography", "google_crc32c": "google-crc32c"}


def check_packages() -> None:
    """ToolMissing when a twin could not start for want of a package."""
    from importlib.util import find_spec

    from windlass.errors import ToolMissing

    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise ToolMissing(
            f"the twin needs {' and '.join(missing)}",
            remedy="Install them with `pip install 'windlass[twin]'`.",
        )
