from __future__ import annotations

import psycopg
import pytest

from windlass.errors import OptionRefused
from windlass.state.postgres_url import read_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada@db.example:5433/runs", "postgresql://db.example:5433/runs"),
        ("postgresql://ada:s3cret@db/runs", "postgresql://db/runs"),
        ("postgresql:///runs", "postgresql://localhost/runs"),
        ("postgres://db/runs?sslmode=require", "postgresql://db/runs"),
    ],
)
def test_the_place_is_shown_without_user_and_password(url, shown):
    address = read_address(url)
    assert (address.shown, address.is_plain) == (shown, True)
    assert "s3cret" not in repr(address)


@pytest.mark.parametrize(
    "url",
    ["postgresql://ada:s3/cret@db/runs", "postgresql://ada:s3@cret@db/runs"],
)
def test_a_password_that_may_be_taken_for_something_else_silences_the_driver(url):
    address = read_address(url)
    assert not address.is_plain
    said = address.redacted(psycopg.OperationalError('could not translate host name "cret"'))
    assert "cret" not in f"{address.shown} {said}"
    assert "%XX" in said


def test_what_the_driver_says_is_one_line_without_the_password():
    address = read_address("postgresql://ada:s3%3Acret@db/runs")
    assert address.redacted(psycopg.OperationalError("no s3:cret\n\there")) == "no *** here"


@pytest.mark.parametrize(
    "url", ["postgresql://ada:s3%cret@db/runs", "postgresql://db/runs?s3cret", "postgresql://[s3"]
)
def test_a_url_that_cannot_be_read_is_refused_without_quoting_it(url):
    with pytest.raises(OptionRefused) as caught:
        read_address(url)
    assert "s3" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.remedy


def test_a_setting_of_the_url_is_left_as_it_is():
    defaults = read_address("postgresql://db/runs?connect_timeout=3&application_name=me").defaults
    assert not {"connect_timeout", "application_name"} & defaults.keys()
    assert "tcp_user_timeout" in defaults
