"""What a machine shall be: its name, address, environment, scripts and extra files.

Must not know which service asked for it: an instance, a worker and a replica are all plans.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_HOSTNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class CannotStart(Exception):
    """A machine that could not be started; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A machine before it is started."""

    id: str
    """Names its folder: letters, digits, `-` and `_`, made by the caller."""
    hostname: str
    address: str
    """Its own loopback address, of 127.0.0.0/8."""
    env: Mapping[str, str] = field(default_factory=dict)
    """For everything that runs in it."""
    startup_script: bytes | None = None
    command: tuple[str, ...] = ()
    """Instead of a startup script: the machine ends with this command, and with its status."""
    shutdown_script: bytes | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Written at each start, by absolute path inside; programs are marked by a `#!`."""

    processes_max: int = 4096
    """How many processes it may have at a time, where the host can be told."""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise CannotStart(f"{self.id!r} cannot name a machine's folder")
        if not _HOSTNAME.fullmatch(self.hostname):
            raise CannotStart(f"{self.hostname!r} cannot be a host name")
        if not ipaddress.ip_address(self.address).is_loopback:
            raise CannotStart(f"{self.address} is not a loopback address")
        for name, value in self.env.items():
            if not _VARIABLE.fullmatch(name) or "\0" in value:
                raise CannotStart(f"{name!r} cannot be an environment variable")
        for path in self.files:
            if not path.startswith("/") or "\0" in path:
                raise CannotStart(f"{path!r} is not an absolute path")

    def to_json(self) -> dict[str, Any]:
        """As a value that JSON can hold, for the supervisor."""
        return {
            "id": self.id,
            "hostname": self.hostname,
            "address": self.address,
            "env": dict(self.env),
            "startup_script": _text(self.startup_script),
            "command": list(self.command),
            "shutdown_script": _text(self.shutdown_script),
            "processes_max": self.processes_max,
            "files": {path: _text(content) for path, content in self.files.items()},
        }


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()
