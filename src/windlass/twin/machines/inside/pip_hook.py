"""Recognises, in every Python that starts in a machine, a pip that wants to install something.

Must not cost anything otherwise: every program written in Python passes here.
"""

from __future__ import annotations

import os
import sys

GUARD = "WINDLASS_TWIN_PIP"


def is_install(argv: list[str]) -> bool:
    """Whether these are the words of `pip install`, in any of its ways to be called."""
    if "install" not in argv:
        return False
    before = argv[: argv.index("install")]
    if any(word == "pip" and before[at - 1] == "-m" for at, word in enumerate(before) if at):
        return True
    return any(word.rpartition("/")[2].startswith("pip") for word in before[:2])


def look() -> None:
    """Called when Python starts; takes pip's place if that is what it is."""
    if GUARD in os.environ or not is_install(sys.orig_argv):
        return
    # Only a pip may pay for these.
    import json  # noqa: PLC0415 - see above
    import sysconfig  # noqa: PLC0415 - see above
    from pathlib import Path  # noqa: PLC0415 - see above

    from windlass.twin.machines.inside import packages, shims  # noqa: PLC0415 - see above

    argv = [sys.executable, *sys.orig_argv[1:]]
    status = packages.pip(argv, {**os.environ, GUARD: "1"}, shims.replaced)
    if status is None:
        told = json.loads(Path(f"{shims.OURS}/plan.json").read_text())
        if told["python_version"] == list(sys.version_info[:2]):
            packages.share(told["packages"], sysconfig.get_path("purelib"), shims.replaced)
    os._exit(status or 0)
