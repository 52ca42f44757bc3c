from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from doors import COMPUTE, PROJECT, TOKEN, ZONE, House
from windlass.twin.messages import Request

NETWORKS = f"/compute/v1/projects/{PROJECT}/global/networks"

BAD: dict[str, tuple[str, str, bytes, int]] = {
    "no JSON": ("POST", NETWORKS, b"{", 400),
    "no text": ("POST", NETWORKS, b"\xff\xfe", 400),
    "JSON without end": ("POST", NETWORKS, b"[" * 100_000, 400),
    "a very long number": ("POST", NETWORKS, b'{"mtu": ' + b"9" * 10_000 + b"}", 400),
    "a field that there is not": ("POST", NETWORKS, b'{"nmae": "x"}', 400),
    "a wrong type": ("POST", NETWORKS, b'{"name": 1}', 400),
    "a list for an object": ("POST", NETWORKS, b"[]", 400),
    "a path that there is not": ("GET", "/compute/v1/nothing", b"", 404),
    "a method that is not modelled": (
        "GET",
        f"/compute/v1/projects/{PROJECT}/global/sslCertificates",
        b"",
        501,
    ),
    "a way up": ("GET", f"/compute/v1/projects/{PROJECT}/../../etc/passwd", b"", 404),
    "a hidden way up": ("GET", f"{ZONE}/instances/%2e%2e%2fetc", b"", 400),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_request_is_refused_in_googles_form(name: str) -> None:
    method, path, body, status = BAD[name]
    response = House().send(method, COMPUTE, path, body)
    assert response.status in ({status, 404} if "way up" in name else {status})
    error = json.loads(bytes(response.content))["error"]  # type: ignore[arg-type]  # is bytes
    assert error["code"] == response.status
    assert error["message"]


def test_refusal_names_every_field_that_is_wrong() -> None:
    _, document = House().ask(
        "POST", COMPUTE, NETWORKS, {"nmae": "x", "autoCreateSubnetworks": "?"}
    )
    (detail,) = document["error"]["details"]
    assert {one["field"] for one in detail["fieldViolations"]} >= {"autoCreateSubnetworks"}
    assert "nmae" in document["error"]["message"]


def test_nothing_is_done_for_a_stranger() -> None:
    house = House()
    assert house.ask("POST", COMPUTE, NETWORKS, {"name": "n"}, token=None)[0] == 401
    assert house.ask("POST", COMPUTE, NETWORKS, {"name": "n"}, token=TOKEN[1:])[0] == 401
    assert house.ask("GET", COMPUTE, f"{NETWORKS}/n")[0] == 404


def test_only_the_fields_that_are_asked_for_are_sent() -> None:
    house = House()
    house.good("POST", COMPUTE, NETWORKS, {"name": "n"})
    found = house.good("GET", COMPUTE, f"{NETWORKS}?fields=items(name)")
    assert {"name": "n"} in found["items"]
    assert set(found) == {"items"}


def test_answers_are_whole_while_others_change_what_they_show() -> None:
    """Records are shown as they stand: a list under way must not trip over a change."""
    house = House()
    for number in range(30):
        house.insert_vm(f"vm-{number}")
    is_over = threading.Event()
    problems: list[Any] = []

    def relabel() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            labels = {f"k{one}": "v" for one in range(number % 20)}
            house.ask(
                "POST", COMPUTE, f"{ZONE}/instances/vm-{number % 30}/setLabels", {"labels": labels}
            )

    def look() -> None:
        try:
            for _ in range(25):
                found = house.good("GET", COMPUTE, f"{ZONE}/instances?fields=items(name,labels)")
                assert len(found["items"]) == 30
        except BaseException as problem:
            problems.append(problem)
            raise

    changer = threading.Thread(target=relabel)
    lookers = [threading.Thread(target=look) for _ in range(2)]
    changer.start()
    for thread in lookers:
        thread.start()
    for thread in lookers:
        thread.join()
    is_over.set()
    changer.join()
    assert problems == []


def test_body_that_is_too_large_is_not_read_to_its_end() -> None:
    class Endless:
        taken = 0

        def read(self, size: int = -1) -> bytes:
            assert size >= 0, "all of it was asked for"
            self.taken += size
            return b" " * size

    for path, kind in ((NETWORKS, "application/json"), ("/batch", "multipart/mixed; boundary=x")):
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": kind}
        body = Endless()
        request = Request(method="POST", host=COMPUTE, path=path, headers=headers, body=body)
        assert House().twin.door.answer(request).status == 413
        assert body.taken < 100 << 20
