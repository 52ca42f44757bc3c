"""Machines that live on this host, each with its processes and its loopback address.

Each has a metadata server that only it can ask.

Must not decide when one lives or dies: the fleet does.
"""

from __future__ import annotations

import ipaddress
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from windlass.errors import WindlassError
from windlass.twin.machine import Boot
from windlass.twin.machines.inside.gpus import VARIABLE as GPUS
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.plan import CannotStart, Plan
from windlass.twin.messages import Request, Response
from windlass.twin.server.listener import Server

FIRST = int(ipaddress.IPv4Address("127.64.0.2"))
LAST = int(ipaddress.IPv4Address("127.127.255.254"))
BLOCK = 256
METADATA_PORT = 80
METADATA_VARIABLE = "GCE_METADATA_HOST"
CA_INSIDE = "/etc/ssl/certs/windlass-twin.pem"
DIRECT = ("127.0.0.0/8", "127.0.0.1", "localhost", "metadata.google.internal")
"""What programs inside reach without the twin."""
METADATA_NAMES = "metadata.google.internal metadata"

Answer = Callable[[str, Request], Response]
"""What the metadata server says to a machine, by its id."""


class Residents:
    """Implements fleet.Bodies and compute.Consoles."""

    def __init__(
        self,
        machines: Machines,
        *,
        authority: Path,
        project: str,
        gpu_mib: Mapping[str, int],
        log: TextIO | None = None,
    ) -> None:
        self._machines = machines
        self._authority = authority
        self._project = project
        self._gpu_mib = gpu_mib
        self._log = log or sys.stderr
        self._listeners: dict[str, Server] = {}
        self._addresses: dict[str, str] = {}
        """By machine, also of neighbours that have yet to start."""
        # Twins of one host begin at different addresses: what one lets go of while it is down, for
        # a machine that goes on, another would take.
        block = zlib.crc32(bytes(authority.parent)) % ((LAST - FIRST) // BLOCK)
        self._last = FIRST + block * BLOCK - 1
        self.port = 0
        """The twin's own, once it listens."""
        self.answer: Answer | None = None

    def start(self, machine_id: str, boot: Boot) -> str:
        """See fleet.Bodies. A machine that cannot be had stays modelled: its address is empty."""
        if not self._machines.can_run():
            return ""
        address = self._address(machine_id)
        listener = self._listen_anywhere(machine_id, address)
        metadata = address if listener.port == METADATA_PORT else f"{address}:{listener.port}"
        plan = Plan(
            id=machine_id,
            hostname=boot.hostname,
            address=address,
            env={**self._environment(metadata, boot), **boot.environment, **self._gpus(boot)},
            startup_script=boot.startup_script.encode() or None,
            shutdown_script=boot.shutdown_script.encode() or None,
            command=boot.argv,
            files=self._files(boot, address),
        )
        try:
            self._machines.start(plan)
        except CannotStart as refused:
            self._log.write(f"machine {machine_id} is only modelled: {refused}\n")
            listener.stop(patience_s=0.0)
            return ""
        self._listeners[machine_id] = listener
        return address

    def resume(self, machine_id: str, address: str) -> None:
        """Answer again a machine that an earlier twin has started. Its metadata server has to be
        where the machine knows it."""
        self._addresses[machine_id] = address
        told = self._machines.environment(machine_id).get(METADATA_VARIABLE, "")
        port = int(told.partition(":")[2] or METADATA_PORT)
        try:
            self._listeners[machine_id] = self._listen(machine_id, address, port=port)
        except WindlassError as refused:
            self._log.write(f"machine {machine_id} has no metadata server: {refused.message}\n")

    def warn(self, machine_id: str) -> None:
        """See fleet.Bodies."""
        self._machines.notice(machine_id)

    def kill(self, machine_id: str) -> None:
        """See fleet.Bodies."""
        self._machines.kill(machine_id)
        listener = self._listeners.pop(machine_id, None)
        if listener is not None:
            listener.stop(patience_s=0.0)

    def delete(self, machine_id: str) -> None:
        """See fleet.Bodies."""
        self.kill(machine_id)
        self._addresses.pop(machine_id, None)
        self._machines.delete(machine_id)

    def exited(self, machine_id: str) -> int | None:
        """See fleet.Bodies."""
        return self._machines.exited(machine_id)

    def living(self) -> list[str]:
        """See fleet.Bodies."""
        return self._machines.live()

    def console(self, machine_id: str, start: int = 0) -> bytes:
        """See compute.Consoles."""
        return self._machines.console(machine_id, start)

    def end(self) -> None:
        """The twin goes down, and its machines with it; they boot again when it comes up."""
        for machine_id in self._machines.live():
            self.kill(machine_id)

    def _address(self, machine_id: str) -> str:
        """Its own; a new one is the next that no machine has, also none that an earlier twin has
        started."""
        taken = frozenset(self._addresses.values())
        while machine_id not in self._addresses:
            self._last = FIRST if self._last >= LAST else self._last + 1
            address = str(ipaddress.IPv4Address(self._last))
            if address not in taken:
                self._addresses[machine_id] = address
        return self._addresses[machine_id]

    def _listen_anywhere(self, machine_id: str, address: str) -> Server:
        """On Google's port where that can be had: those below 1024 may be root's, and another twin
        may have machines of the same address. Clients are told where it is."""
        try:
            return self._listen(machine_id, address)
        except WindlassError:
            return self._listen(machine_id, address, port=0)

    def _listen(self, machine_id: str, address: str, *, port: int = METADATA_PORT) -> Server:
        def answer(request: Request) -> Response:
            assert self.answer is not None, "a machine asked before the twin was put together"
            return self.answer(machine_id, request)

        def is_inside(peer: tuple[str, int], local: tuple[str, int]) -> bool:
            return self._machines.owns_socket(machine_id, peer, local)

        server = Server(answer, address=address, port=port)
        server.admits = is_inside
        server.start()
        return server

    def _environment(self, metadata: str, boot: Boot) -> Mapping[str, str]:
        """How programs inside find Google: everything that is not this host, nor a neighbour, goes
        through the twin, which forwards nothing."""
        proxy = f"http://127.0.0.1:{self.port}"
        direct = ",".join((*DIRECT, boot.hostname, *boot.neighbours))
        return {
            METADATA_VARIABLE: metadata,
            "GCE_METADATA_IP": metadata,
            "GCE_METADATA_ROOT": metadata,
            "GOOGLE_CLOUD_PROJECT": self._project,
            "HTTPS_PROXY": proxy,
            "https_proxy": proxy,
            "NO_PROXY": direct,
            "no_proxy": direct,
            "REQUESTS_CA_BUNDLE": CA_INSIDE,
            "SSL_CERT_FILE": CA_INSIDE,
            "CURL_CA_BUNDLE": CA_INSIDE,
            "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": CA_INSIDE,
            "CLOUDSDK_CORE_PROJECT": self._project,
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        }

    def _files(self, boot: Boot, address: str) -> dict[str, bytes]:
        hosts = f"127.0.0.1 localhost\n{address} {boot.hostname}\n{address} {METADATA_NAMES}\n"
        for name, machine_id in boot.neighbours.items():
            hosts += f"{self._address(machine_id)} {name}\n"
        return {
            "/etc/hosts": hosts.encode(),
            CA_INSIDE: self._authority.read_bytes(),
            **{path: text.encode() for path, text in boot.files.items()},
        }

    def _gpus(self, boot: Boot) -> dict[str, str]:
        """What `nvidia-smi` shows inside."""
        if not boot.gpus:
            return {}
        name = boot.gpus[0].replace("-tesla-", "-").replace("-", " ").upper()
        memory = self._gpu_mib.get(boot.gpus[0], 0)
        return {GPUS: f"{name}:{memory}:{len(boot.gpus)}"}
