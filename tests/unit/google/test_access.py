"""The project that is meant, and a client that is closed when nobody uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.errors import OptionRefused
from windlass.google.access import Access, chosen_project

FILE = Path("config.yaml")


@pytest.mark.parametrize(
    ("configured", "caller", "found"),
    [
        ("mine", {"GOOGLE_CLOUD_PROJECT": "other"}, "mine"),
        (None, {"GOOGLE_CLOUD_PROJECT": "a", "CLOUDSDK_CORE_PROJECT": "b"}, "a"),
        (None, {"GOOGLE_CLOUD_PROJECT": "", "CLOUDSDK_CORE_PROJECT": "b"}, "b"),
    ],
)
def test_the_configuration_names_the_project_before_the_environment(configured, caller, found):
    assert chosen_project(configured, caller, file=FILE) == found


def test_without_a_project_the_user_is_told_where_to_write_it():
    with pytest.raises(OptionRefused) as caught:
        chosen_project(None, {}, file=FILE)
    assert "config.yaml" in caught.value.remedy


def test_a_session_outlives_the_access_that_made_it():
    session = Access().session
    assert session._client.is_closed is False
    client = session._client
    del session
    assert client.is_closed is True
