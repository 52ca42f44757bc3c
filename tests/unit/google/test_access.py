"""The project that is meant, and a client that is closed when nobody uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.agent.storage import BucketError
from windlass.errors import EngineTransient, OptionRefused
from windlass.google.access import Access, chosen_account, chosen_project
from windlass.google.credentials import AmbientBearer

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


@pytest.mark.parametrize(
    ("configured", "caller", "found"),
    [
        ("mine", {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT": "other"}, "mine"),
        (None, {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT": "other"}, "other"),
        (None, {}, ""),
    ],
)
def test_the_account_to_act_as_is_the_configurations_or_that_of_gcloud(configured, caller, found):
    assert chosen_account(configured, caller) == found


def test_a_folder_that_gets_no_token_for_now_is_in_trouble_as_a_disk_would_be(monkeypatch):
    def none(self, *, anew=False):
        raise EngineTransient("no token was to be had")

    monkeypatch.setattr(AmbientBearer, "token", none)
    with pytest.raises(BucketError, match="no token"):
        Access()._token(False)


def test_agents_on_this_machine_ask_a_program_for_tokens():
    plain, acting = Access().token_command(), Access(impersonate="ci@lab").token_command()
    assert plain["WINDLASS_TOKEN_COMMAND"].endswith(" -m windlass.google.token")
    assert acting["WINDLASS_TOKEN_COMMAND"].endswith(" -m windlass.google.token ci@lab")


def test_a_session_outlives_the_access_that_made_it():
    session = Access().session
    assert session._client.is_closed is False
    client = session._client
    del session
    assert client.is_closed is True
