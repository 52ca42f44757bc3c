"""How time passes for a person who waits for a command.

Must not be used by the control plane: it returns when to wake.
"""

from __future__ import annotations

import time


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)  # noqa: TID251 - a person watches; nothing of the control plane waits.
