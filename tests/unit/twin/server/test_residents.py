from __future__ import annotations

import io
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from windlass.twin.machine import Boot
from windlass.twin.machines.plan import CannotStart, Plan
from windlass.twin.messages import Request, Response
from windlass.twin.server.residents import Residents

ASK = b"GET /x HTTP/1.1\r\nHost: metadata\r\nMetadata-Flavor: Google\r\n\r\n"


class Rack:
    """Machines without processes; a test says whose a socket is."""

    def __init__(self) -> None:
        self.plans: dict[str, Plan] = {}
        self.inside: set[str] = set()
        self.is_broken = False

    def can_run(self) -> bool:
        return True

    def start(self, plan: Plan) -> None:
        if self.is_broken:
            raise CannotStart("no room")
        self.plans[plan.id] = plan

    def owns_socket(self, machine_id: str, peer: object, local: object) -> bool:
        return machine_id in self.inside

    def kill(self, machine_id: str) -> None:
        self.plans.pop(machine_id, None)

    def delete(self, machine_id: str) -> None:
        self.plans.pop(machine_id, None)

    def environment(self, machine_id: str) -> dict[str, str]:
        plan = self.plans.get(machine_id)
        return dict(plan.env) if plan else {}

    def live(self) -> list[str]:
        return list(self.plans)


@pytest.fixture
def rack() -> Rack:
    return Rack()


def housed(rack: Rack, tmp_path: Path) -> Residents:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(b"certificate")
    residents = Residents(
        rack,  # type: ignore[arg-type]  # as much of Machines as is needed
        authority=authority,
        project="p",
        gpu_mib={},
        log=io.StringIO(),
    )

    def answer(machine_id: str, request: Request) -> Response:
        return Response(content=machine_id.encode())

    residents.answer = answer
    return residents


def asked(rack: Rack, machine_id: str) -> bytes:
    """What a program is told that asks this machine's metadata server."""
    host, _, port = rack.plans[machine_id].env["GCE_METADATA_HOST"].partition(":")
    with socket.create_connection((host, int(port or 80)), timeout=5) as client:
        try:
            client.sendall(ASK)
            return client.recv(1000)
        except ConnectionError:
            return b""


def test_metadata_server_answers_its_own_machine_and_hangs_up_on_others(
    rack: Rack, tmp_path: Path
) -> None:
    residents = housed(rack, tmp_path)
    for name in ("m1", "m2"):
        residents.start(name, Boot(hostname=name))
    assert asked(rack, "m1") == b""
    rack.inside = {"m1"}
    assert asked(rack, "m1").endswith(b"m1")
    assert asked(rack, "m2") == b""
    residents.end()


def test_programs_inside_reach_their_neighbours_by_name_without_the_twin(
    rack: Rack, tmp_path: Path
) -> None:
    """gRPC asks a proxy even for names that /etc/hosts has."""
    residents = housed(rack, tmp_path)
    residents.start("m1", Boot(hostname="worker-0", neighbours={"worker-1": "m2"}))
    for variable in ("NO_PROXY", "no_proxy"):
        assert {"worker-0", "worker-1"} < set(rack.plans["m1"].env[variable].split(","))
    residents.end()


def test_machines_of_an_earlier_twin_keep_their_addresses_to_themselves(
    rack: Rack, tmp_path: Path
) -> None:
    residents = housed(rack, tmp_path)
    first = residents.start("m1", Boot(hostname="m1"))
    residents.end()
    later = housed(rack, tmp_path)
    later.resume("m1", first)
    others = [later.start(f"n{number}", Boot(hostname="n")) for number in range(3)]
    assert len({first, *others}) == 4
    for name in ("m1", "n0", "n1", "n2"):
        later.delete(name)


def test_twins_of_one_host_give_different_addresses(tmp_path: Path) -> None:
    """But the same home the same ones again."""
    first = {}
    for name in ("a", "b", "a"):
        (tmp_path / name).mkdir(exist_ok=True)
        residents = housed(Rack(), tmp_path / name)
        address = residents.start("m1", Boot(hostname="m1"))
        residents.end()
        assert first.setdefault(name, address) == address
    assert first["a"] != first["b"]


def test_a_resumed_machine_finds_its_metadata_where_it_was_told(rack: Rack, tmp_path: Path) -> None:
    """Where port 80 is another's, the machine knows a port, and a later twin must not choose."""
    rack.inside = {"m1"}
    residents = housed(rack, tmp_path)
    address = residents.start("m1", Boot(hostname="m1"))
    told = rack.plans["m1"]
    residents.end()
    with socket.create_server((address, 0)) as found:
        place = f"{address}:{found.getsockname()[1]}"
    # The twin was killed, not ended: its machine goes on.
    rack.plans["m1"] = replace(told, env={**told.env, "GCE_METADATA_HOST": place})
    later = housed(rack, tmp_path)
    later.resume("m1", address)
    assert asked(rack, "m1").endswith(b"m1")
    later.delete("m1")


def test_machine_that_cannot_be_had_stays_modelled(rack: Rack, tmp_path: Path) -> None:
    residents = housed(rack, tmp_path)
    rack.is_broken = True
    assert residents.start("m1", Boot(hostname="m1")) == ""
    rack.is_broken = False
    assert residents.start("m1", Boot(hostname="m1")).startswith("127.")
    residents.delete("m1")


def test_machine_knows_no_token_but_the_way_to_one(rack: Rack, tmp_path: Path) -> None:
    residents = housed(rack, tmp_path)
    residents.start("m1", Boot(hostname="m1"))
    plan = rack.plans["m1"]
    assert not any("TOKEN" in name for name in plan.env)
    assert b"metadata.google.internal" in plan.files["/etc/hosts"]
    residents.delete("m1")
