"""Google's own library finds out where it is and gets tokens, as it does on a real machine."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from doors import PROJECT, House
from windlass.twin.messages import Request, Response
from windlass.twin.server.listener import Server

PROGRAM = """
import json
import google.auth
from google.auth.compute_engine import _metadata
from google.auth.transport.requests import Request
request = Request()
credentials, project = google.auth.default()
credentials.refresh(request)
print(json.dumps({
    "is_there": _metadata.ping(request),
    "kind": type(credentials).__module__,
    "project": project,
    "email": credentials.service_account_email,
    "token": credentials.token,
    "universe": credentials.universe_domain,
    "scopes": _metadata.get_service_account_info(request)["scopes"],
}))
"""


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("google", "requests"))
    or importlib.util.find_spec("google.auth") is None,
    reason="google-auth is not installed",
)
def test_google_auth_takes_a_machine_for_one_of_googles() -> None:
    house = House()
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    house.insert_vm("one", serviceAccounts=[{"email": "default", "scopes": scopes}])
    (machine,) = house.twin.fleet.all()

    def answer(request: Request) -> Response:
        return house.twin.metadata.answer(machine.id, request)

    server = Server(answer)
    server.start()
    try:
        place = f"127.0.0.1:{server.port}"
        environment = {"GCE_METADATA_HOST": place, "GCE_METADATA_IP": place, "HOME": "/nowhere"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )
    finally:
        server.stop()
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    account = house.cloud.settings.default_service_account
    assert house.twin.tokens.principal(found.pop("token")) == account
    assert found == {
        "is_there": True,
        "kind": "google.auth.compute_engine.credentials",
        "project": PROJECT,
        "email": account,
        "universe": "googleapis.com",
        "scopes": scopes,
    }
