"""What machines are told about themselves."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from doors import House
from windlass.twin.messages import Bytes, Request


def test_a_machine_reads_the_time_of_day_of_the_twin_from_every_answer():
    house = House()
    house.clock.at += 1000.0
    path = "/computeMetadata/v1/instance/id"
    headers = {"metadata-flavor": "Google"}
    request = Request(
        method="GET", host="metadata", path=path, query="", headers=headers, body=Bytes(b"")
    )
    answer = house.twin.metadata.answer("no-such-machine", request)
    date = dict(answer.headers)["Date"]
    assert parsedate_to_datetime(date).timestamp() == int(house.clock.now())
