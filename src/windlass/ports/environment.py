"""The environment of this very process.

Must not be used by what runs beside others in one process: it changes the world for all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def adopt(environment: Mapping[str, str]) -> None:
    """Live in this environment from now on, and in nothing of the old one: clients that are made
    after this, and programs that are started, see no other."""
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
