"""The files of a machine that are its own: host name, users, shims, and what its plan brings.

Must not write before the root was changed: only then does every path end inside the machine.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = "/run/windlass-twin"
LIBRARY = f"{OURS}/lib"
BIN = f"{OURS}/bin"
PREPARED = "/var/lib/windlass-twin/prepared"
STANDARD_PATH = ("/usr/local/sbin", "/usr/local/bin")
SYSTEM_PATH = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")

# A name that a script calls, and the shim that answers to it.
SHIMS = (
    "sudo",
    "nvidia-smi",
    "apt-get",
    "apt",
    "shutdown",
    "poweroff",
    "halt",
    "reboot",
    "systemctl",
    "journalctl",
    "google_metadata_script_runner",
)
DRIVER_INSTALLER = "/opt/deeplearning/install-driver.sh"
# How Google's libraries know that they are on Compute Engine.
PRODUCT_NAME = "/sys/class/dmi/id/product_name"
FIRST_USER_ID = 1000
NOBODY_ID = 65534


@dataclass(frozen=True, slots=True, kw_only=True)
class Furniture:
    """What will be placed: gathered from the host before the root changes."""

    library: dict[str, tuple[bytes, float]]
    """Files of the programs that run inside, and when they were written."""
    files: dict[str, bytes]
    told: dict[str, Any]
    python: str
    hostname: str
    address: str
    resolver: bytes


def gather(told: dict[str, Any], *, is_privileged: bool) -> Furniture:
    """Read from the host what the machine will need."""
    source = Path(__file__).parent / "inside"
    library = {}
    for path in (*source.glob("*.py"), *source.glob("__pycache__/*.pyc")):
        name = f"windlass/twin/machines/inside/{path.relative_to(source)}"
        library[name] = (path.read_bytes(), path.stat().st_mtime)
    try:
        resolver = Path("/etc/resolv.conf").read_bytes()
    except OSError:
        resolver = b""
    inner = {
        "hostname": told["hostname"],
        "env": _environment(told),
        "startup_script": told["startup_script"],
        "shutdown_script": told["shutdown_script"],
        "command": told["command"],
        "can_switch_user": is_privileged,
        "packages": told["packages"],
        "python_version": told["python_version"],
    }
    files = {path: base64.b64decode(content) for path, content in told["files"].items()}
    return Furniture(
        library=library,
        files=files,
        told=inner,
        python=told["python"],
        hostname=told["hostname"],
        address=told["address"],
        resolver=resolver,
    )


def _environment(told: dict[str, Any]) -> dict[str, str]:
    """Shims first; then the Python that the twin runs on, which has what programs import."""
    path = ":".join((BIN, *STANDARD_PATH, f"{told['prefix']}/bin", *SYSTEM_PATH))
    env = {"PATH": path, **told["env"]}
    hooks = [f"{OURS}/python", *filter(None, [env.get("PYTHONPATH")])]
    return {**env, "PYTHONPATH": ":".join(hooks)}


def place(furniture: Furniture) -> None:
    """Write everything, now that the root is the machine's."""
    for name in ("", "windlass", "windlass/twin", "windlass/twin/machines"):
        _write(f"{LIBRARY}/{name}/__init__.py", b"")
    for name, (content, written) in furniture.library.items():
        _write(f"{LIBRARY}/{name}", content)
        # A compiled module counts only beside a source of the very age it was compiled from.
        os.utime(f"{LIBRARY}/{name}", (written, written))
    _write(f"{OURS}/plan.json", json.dumps(furniture.told).encode(), mode=0o644)
    _place_shims(furniture.python)
    if not Path(PREPARED).exists():
        _prepare()
    _write("/etc/hostname", f"{furniture.hostname}\n".encode())
    _write("/etc/resolv.conf", furniture.resolver)
    _write(PRODUCT_NAME, b"Google Compute Engine\n")
    hosts = f"127.0.0.1 localhost\n::1 localhost\n{furniture.address} {furniture.hostname}\n"
    _write("/etc/hosts", hosts.encode())
    for path, content in furniture.files.items():
        _write(path, content, mode=0o755 if content.startswith(b"#!") else 0o644)


def _place_shims(python: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {LIBRARY!r}); "
        "from windlass.twin.machines.inside.shims import main; main(sys.argv[1:])"
    )
    start = f"#!/bin/sh\nexec {shlex.quote(python)} -I -S -c {shlex.quote(code)} "
    for name in SHIMS:
        _write(f"{BIN}/{name}", f'{start}{name} "$@"\n'.encode(), mode=0o755)
    _write(DRIVER_INSTALLER, f'{start}install-driver "$@"\n'.encode(), mode=0o755)
    # Every Python looks for this module when it starts; pip's call is recognised there, also in a
    # virtual environment and behind `python -m`.
    hook = f"""import sys
if "install" in sys.orig_argv:
    sys.path.append({LIBRARY!r})
    import windlass.twin.machines.inside.pip_hook as pip_hook
    pip_hook.look()
    # A program may have a windlass of its own to import.
    sys.path.remove({LIBRARY!r})
    for name in [name for name in sys.modules if name.partition(".")[0] == "windlass"]:
        del sys.modules[name]
"""
    _write(f"{OURS}/python/sitecustomize.py", hook.encode())


def _prepare() -> None:
    """At the first start: no people and no secrets of the host."""
    for name in ("passwd", "group"):
        lines = Path(f"/etc/{name}").read_text(errors="replace").splitlines()
        kept = [line for line in lines if _is_system(line)]
        _write(f"/etc/{name}", "".join(f"{line}\n" for line in kept).encode())
    names = [line.split(":")[0] for line in Path("/etc/passwd").read_text().splitlines()]
    shadow = "".join(f"{name}:*:19000:0:99999:7:::\n" for name in names)
    _write("/etc/shadow", shadow.encode(), mode=0o600)
    for pattern in ("shadow-", "gshadow*", "passwd-", "group-", "subuid*", "subgid*", "crypttab"):
        _forget(f"etc/{pattern}")
    _forget("etc/ssh/ssh_host_*")
    _forget("etc/krb5.keytab")
    Path("/root").mkdir(exist_ok=True)
    # Others may pass: the Python that the shims run on may lie below.
    Path("/root").chmod(0o711)
    Path("/home").mkdir(exist_ok=True)
    _write(PREPARED, b"")


def _is_system(line: str) -> bool:
    fields = line.split(":")
    is_number = len(fields) > 2 and fields[2].isdecimal()
    return is_number and (int(fields[2]) < FIRST_USER_ID or int(fields[2]) == NOBODY_ID)


def _forget(pattern: str) -> None:
    for path in Path("/").glob(pattern):
        if not path.is_dir() or path.is_symlink():
            path.unlink()


def _write(path: str, content: bytes, *, mode: int = 0o644) -> None:
    """A new file in the place of whatever the machine may have left there."""
    at = Path(path)
    at.parent.mkdir(parents=True, exist_ok=True)
    at.unlink(missing_ok=True)
    descriptor = os.open(at, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
