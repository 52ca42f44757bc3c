from __future__ import annotations

import json
from pathlib import Path

from vms import PROJECT, REGION, ZONE, Google, vm
from windlass.twin.discovery.api import load_api

QUESTIONS = Path(__file__).with_name("questions.txt")
GLOBAL = f"{PROJECT}/global"
DEBIAN = "/compute/v1/projects/debian-cloud"
PLACES = {"Z": ZONE, "R": REGION, "G": GLOBAL, "P": PROJECT, "D": DEBIAN}
A_VM = json.dumps(vm())[1:-1]


def test_every_answer_of_every_modelled_method_is_one_of_googles() -> None:
    google = Google()
    for line in QUESTIONS.read_text().splitlines():
        if line.startswith("!"):
            _change(google, line.removeprefix("! "))
        elif not line.startswith("#"):
            _ask(google, line)
    _ask_operations(google)
    exist = set(load_api("compute", "v1").method_ids)
    assert sorted((google.modelled() & exist) - google.asked) == []


def _ask(google: Google, line: str) -> None:
    method, path, *body = line.replace("VM", A_VM).split(" ", 2)
    head, slash, rest = path.partition("/")
    google.good(method, PLACES[head] + slash + rest, json.loads(body[0]) if body else None)


def _change(google: Google, what: str) -> None:
    """What no question can do."""
    compute = google.twin.compute
    if what == "tell":
        instance = compute.instances.find("twin-project/zones/us-central1-a/one")
        assert instance is not None
        compute.instances.guest_attributes.put(instance, "hostkeys/rsa", "AAAA")
        compute.maintenance.announce(instance, in_s=3600)
    elif what == "close":
        google.rule = google.limit_room(0)
    else:
        google.twin.market.remove(google.rule)


def _ask_operations(google: Google) -> None:
    google.get(f"{PROJECT}/aggregated/operations")
    for place in (ZONE, REGION, GLOBAL):
        operations = f"{place}/operations"
        name = google.get(operations)["items"][0]["name"]
        google.get(f"{operations}/{name}")
        google.good("POST", f"{operations}/{name}/wait")
        google.ask("DELETE", f"{operations}/{name}")
        assert google.refused("GET", f"{operations}/{name}")[0] == 404
