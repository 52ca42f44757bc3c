"""Package installers in a machine without a package index: the real one first, then a stand-in.

Must not hide any other failure: only what says that an index could not be reached is replaced.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REAL_APT = "/usr/bin/apt-get"
NO_INDEX = Path("/run/windlass-twin/no-package-index")
APT_OPTIONS = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=5")
APT_UNREACHED = (
    "Temporary failure resolving",
    "Could not resolve",
    "Could not connect",
    "Unable to connect",
    "Connection refused",
    "Connection timed out",
    "Network is unreachable",
    "Failed to fetch",
    "Some index files failed to download",
)
APT_UNKNOWN = ("Unable to locate package", "has no installation candidate")
# There is no device for them, so they are not even looked for.
DRIVERS = (
    "cuda-drivers",
    "nvidia-driver",
    "nvidia-open",
    "nvidia-kernel",
    "libnvidia",
    "cuda-toolkit",
)

# What pip writes into its log, however quiet it is to be, when nobody answers at an index.
PIP_UNREACHED = ("Could not fetch URL", "Failed to establish a new connection", "ProxyError")

Said = Callable[[str], None]


def run_shown(argv: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
    """Run it, show what it prints as it prints it, and return that too."""
    seen: list[bytes] = []
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        assert child.stdout is not None
        while chunk := os.read(child.stdout.fileno(), 65536):
            os.write(1, chunk)
            seen.append(chunk)
    return child.returncode, b"".join(seen).decode(errors="replace")


def apt(words: list[str], replaced: Said) -> int:
    """`apt-get`, which changes only this machine's disk."""
    named = [word for word in words if not word.startswith("-")]
    wanted = named[1:]
    if named[:1] == ["install"] and wanted and all(name.startswith(DRIVERS) for name in wanted):
        replaced(f"apt-get install {' '.join(wanted)}: simulated accelerators need no driver")
        return 0
    if not Path(REAL_APT).exists():
        replaced(f"apt-get {' '.join(words)}: this host has none")
        return 0
    env = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    status, seen = run_shown([REAL_APT, *APT_OPTIONS, *words], env)
    if any(sign in seen for sign in APT_UNREACHED):
        NO_INDEX.touch()
    elif not (status and NO_INDEX.exists() and any(sign in seen for sign in APT_UNKNOWN)):
        return status
    replaced(f"apt-get {' '.join(words)}: no package index can be reached")
    return 0


def pip(argv: Sequence[str], env: Mapping[str, str], replaced: Said) -> int | None:
    """pip, which gives up soon when nobody answers; None for one that nobody answered."""
    log = Path(f"/tmp/windlass-twin-pip-{os.getpid()}.log")
    patience = {"PIP_RETRIES": "0", "PIP_TIMEOUT": "5", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    status, _ = run_shown(argv, {**patience, **env, "PIP_LOG": str(log)})
    kept = log.read_text(errors="replace") if log.exists() else ""
    log.unlink(missing_ok=True)
    if status == 0 or not any(sign in kept for sign in PIP_UNREACHED):
        return status
    replaced(f"pip {' '.join(argv[argv.index('install') :])}: no package index can be reached")
    return None


def share(packages: str, own: str, replaced: Said) -> None:
    """Let a virtual environment see the packages of the Python that the twin runs on."""
    if own == packages or not Path(packages).is_dir():
        return
    link = Path(own) / "windlass-twin.pth"
    if not link.exists():
        link.write_text(f"{packages}\n")
        replaced(f"packages of {sys.prefix}: those of the host's Python are seen instead")
