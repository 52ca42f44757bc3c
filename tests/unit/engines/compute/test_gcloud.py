"""Commands of gcloud: as kept, and run against the twin, where they make what our requests make."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rented import MADE_AT, PROJECT, rented_claim
from rented_machines import render_claim
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.calls import calls
from windlass.engines.compute.gcloud import gcloud_script
from windlass.engines.shell import END, command, pairs
from windlass.google.compute import BASE
from windlass.twin.server import control
from windlass.twin.server.home import TwinHome
from windlass.twin.server.variables import variables

TWIN_PROJECT = "twin-project"
OF_ITS_OWN = frozenset(
    """creationTimestamp fingerprint id labelFingerprint lastAttachTimestamp lastStartTimestamp
    natIP networkIP selfLink selfLinkWithId terminationTimestamp""".split()
)
"""What no two resources have in common, or no two moments."""
SAME = {
    "a3-ultra": rented_claim("us-central1-b/a3-ultragpu-8g/spot", nodes=2),
    "n1-t4": rented_claim(
        "us-central1-a/n1-standard-8+T4:2/on-demand",
        options={"local_ssds": 1, "disk_gb": 200, "external_address": True},
    ),
}
KEPT = {
    "a3-ultra": SAME["a3-ultra"],
    "a2-flex-start": rented_claim("us-central1-a/a2-highgpu-1g/flex-start", nodes=2),
}


def script_for(claim: ClaimRequest, project: str = PROJECT) -> str:
    request = render_claim(claim)
    return gcloud_script(request, project=project)


@pytest.mark.parametrize("name", KEPT)
def test_commands_are_rendered_as_they_are_kept(name, golden):
    script = re.sub(
        rf"(<<'{END}'\n).*?(?=^{END}$)", r"\1…\n", script_for(KEPT[name]), flags=re.S | re.M
    )
    golden.check(f"compute/{name}.gcloud.sh", script)


def test_a_value_with_a_comma_is_told_from_two_values():
    assert pairs({"a": "1", "b": "2"}) == "a=1,b=2"
    assert pairs({"a": "1,2", "b": "3"}) == "^;^a=1,2;b=3"


def test_a_flag_is_quoted_where_the_shell_would_take_it_apart():
    text = command("gcloud", "a b", flags=["--x=it's", "--file=$path", "--yes"])
    assert text == "gcloud 'a b' \\\n  --x='it'\"'\"'s' \\\n  --file=\"$path\" \\\n  --yes\n"


class Twin:
    """A Google Cloud of its own, whose machines are not real."""

    def __init__(self, folder: Path) -> None:
        self.home = TwinHome(folder)
        control.start(self.home, control.Wish(live=0), environment=os.environ)
        running = self.home.running()
        assert running is not None
        found = variables(self.home, running, mode="proxy", caller=os.environ)
        self.environment = {**os.environ, **{name: str(one) for name, one in found.items()}}
        self.client = httpx.Client(
            proxy=self.environment["HTTPS_PROXY"],
            verify=ssl.create_default_context(cafile=self.environment["SSL_CERT_FILE"]),
            headers={"Authorization": f"Bearer {self.home.token()}"},
        )

    def send(self, url: str, body: Any) -> None:
        answer = self.client.post(url, json=body)
        assert answer.is_success, answer.text
        assert "error" not in answer.json()

    def make_networks(self, claim: ClaimRequest) -> None:
        request = render_claim(claim)
        body = request.inserts[-1].body["instanceProperties"]
        made: set[str] = set()
        for number, nic in enumerate(body["networkInterfaces"][1:]):
            region, subnetwork = nic["subnetwork"].split("/")[1::2]
            root = f"{BASE}/projects/{TWIN_PROJECT}"
            if nic["network"] not in made:
                network = {
                    "name": nic["network"].rpartition("/")[2],
                    "autoCreateSubnetworks": False,
                }
                self.send(f"{root}/global/networks", network)
                made.add(nic["network"])
            subnet = {"name": subnetwork, "network": nic["network"]}
            subnet["ipCidrRange"] = f"192.168.{number}.0/24"
            self.send(f"{root}/regions/{region}/subnetworks", subnet)

    def held(self, claim: str) -> dict[str, list[Any]]:
        """What there is of a claim, without what tells two claims apart."""
        found = {}
        for collection in ("instances", "disks", "resourcePolicies"):
            url = f"{BASE}/projects/{TWIN_PROJECT}/aggregated/{collection}"
            scopes = self.client.get(url).json().get("items", {}).values()
            here = [one for scope in scopes for one in scope.get(collection, ())]
            mine = [one for one in here if one["name"].startswith(f"w-{claim}")]
            found[collection] = [plain(one, claim) for one in sorted(mine, key=lambda x: x["name"])]
        return found

    def stop(self) -> None:
        control.stop(self.home)
        self.client.close()


def plain(value: Any, claim: str) -> Any:
    if isinstance(value, dict):
        return {key: plain(one, claim) for key, one in value.items() if key not in OF_ITS_OWN}
    if isinstance(value, list):
        return sorted((plain(one, claim) for one in value), key=key_of)
    return value.replace(claim, "CLAIM") if isinstance(value, str) else value


def key_of(value: Any) -> str:
    """Items of metadata have no order; other lists keep theirs."""
    return value.get("key", "") if isinstance(value, dict) else ""


@pytest.fixture(scope="module")
def twin(tmp_path_factory) -> Iterator[Twin]:
    if shutil.which("gcloud") is None:
        pytest.skip("gcloud is not installed")
    twin = Twin(tmp_path_factory.mktemp("gcloud") / "twin")
    yield twin
    twin.stop()


@pytest.mark.parametrize("name", SAME)
def test_the_real_gcloud_makes_on_the_twin_what_our_requests_make(name, twin):
    ours = dataclasses.replace(SAME[name], id=f"{name}-1-0")
    theirs = dataclasses.replace(ours, id=f"{name}-1-1")
    assert ours.made_at == MADE_AT
    twin.make_networks(ours)
    request = render_claim(ours)
    for call in calls(request, project=TWIN_PROJECT):
        twin.send(call.url, dict(call.body))
    done = subprocess.run(
        ["bash"],
        input=script_for(theirs, TWIN_PROJECT),
        env=twin.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "ERROR" in line]) == (
        0,
        [],
    )
    assert twin.held(ours.id)["instances"]
    assert twin.held(theirs.id) == twin.held(ours.id)
