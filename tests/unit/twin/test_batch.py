from __future__ import annotations

import pytest

from doors import COMPUTE, PROJECT, TOKEN, ZONE, House
from windlass.twin.batch import MOST_PARTS
from windlass.twin.messages import Response

PATH = "/batch/compute/v1"
KIND = 'multipart/mixed; boundary="cut"'


def part(line: str, *, headers: str = "", body: str = "", name: str = "<a+1>") -> str:
    inner = f"{line}\r\n{headers}\r\n{body}"
    return f"--cut\r\nContent-Type: application/http\r\nContent-ID: {name}\r\n\r\n{inner}\r\n"


def sent(house: House, *parts: str, token: str | None = TOKEN, kind: str = KIND) -> Response:
    body = ("".join(parts) + "--cut--\r\n").encode()
    return house.send("POST", COMPUTE, PATH, body, token=token, content_type=kind)


def statuses(response: Response) -> list[int]:
    assert isinstance(response.content, bytes)
    lines = response.content.decode().split("\r\n")
    return [int(line.split()[1]) for line in lines if line.startswith("HTTP/1.1 ")]


GET = f"GET {ZONE}/instances HTTP/1.1"


def test_each_call_is_answered_in_its_place_under_its_name() -> None:
    missing = f"GET {ZONE}/instances/no HTTP/1.1"
    response = sent(House(), part(GET), part(missing, name="<a+2>"), part(GET, name="<a+3>"))
    assert statuses(response) == [200, 404, 200]
    content = bytes(response.content)  # type: ignore[arg-type]  # is bytes
    assert [content.index(b"<response-a+%d>" % one) for one in (1, 2, 3)] == sorted(
        content.index(b"<response-a+%d>" % one) for one in (1, 2, 3)
    )


def test_batch_without_a_token_is_refused_as_a_whole() -> None:
    inside = f"Authorization: Bearer {TOKEN}\r\n"
    assert sent(House(), part(GET, headers=inside), token=None).status == 401


def test_call_in_a_batch_is_its_senders_unless_it_names_another() -> None:
    house = House()
    robot = house.token_of(house.robot())
    wrong = "Authorization: Bearer wrong\r\n"
    other = f"Authorization: Bearer {robot}\r\n"
    response = sent(house, part(GET), part(GET, headers=wrong), part(GET, headers=other))
    assert statuses(response) == [200, 401, 403]


def test_call_in_a_robots_batch_gets_no_more_than_the_robot_may() -> None:
    house = House()
    robot = house.token_of(house.robot())
    assert statuses(sent(house, part(GET), token=robot)) == [403]


BAD = {
    "no boundary": ("multipart/mixed", [part(GET)]),
    "a part without a request": (KIND, [part(GET), part("")]),
    "a part with half a request": (KIND, [part(GET), part("GET")]),
    "a part with an impossible address": (KIND, [part(GET), part("GET http://[ HTTP/1.1")]),
    "a batch in a batch": (
        KIND,
        [part(f"POST {PATH} HTTP/1.1", headers="Content-Type: multipart/mixed; boundary=x\r\n")],
    ),
    "too many": (KIND, [part(GET)] * (MOST_PARTS + 1)),
}


@pytest.mark.parametrize("name", BAD)
def test_batch_that_cannot_be_read_is_refused(name: str) -> None:
    kind, parts = BAD[name]
    assert sent(House(), *parts, kind=kind).status == 400


def test_nothing_of_a_batch_is_done_that_cannot_be_read_to_the_end() -> None:
    house = House()
    network = part(
        f"POST /compute/v1/projects/{PROJECT}/global/networks HTTP/1.1",
        headers="Content-Type: application/json\r\n",
        body='{"name": "half"}',
    )
    assert sent(house, network, part("nonsense")).status == 400
    path = f"/compute/v1/projects/{PROJECT}/global/networks/half"
    assert house.ask("GET", COMPUTE, path)[0] == 404
    assert statuses(sent(house, network)) == [200]
    assert house.ask("GET", COMPUTE, path)[0] == 200


def test_lines_may_end_with_a_bare_line_feed() -> None:
    body = "".join([part(GET), "--cut--\r\n"]).replace("\r\n", "\n").encode()
    house = House()
    response = house.send("POST", COMPUTE, PATH, body, content_type=KIND)
    assert statuses(response) == [200]


def test_what_is_uploaded_may_be_of_the_same_type() -> None:
    house = House()
    response = house.send("POST", COMPUTE, f"{ZONE}/instances", b"{}", content_type=KIND)
    assert response.status == 400
    assert b"boundary" not in bytes(response.content)  # type: ignore[arg-type]  # is bytes
