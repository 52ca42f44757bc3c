"""Secret Manager, looked at before a run is submitted."""

from __future__ import annotations

import pytest

from windlass.errors import ApiDisabled, PermissionMissing, SecretMissing
from windlass.google.secrets import Secrets
from windlass.google.session import Missing

REFERENCES = {"TOKEN": "projects/lab/secrets/HF_TOKEN/versions/latest"}


class Session:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def get(self, url, *, what):
        self.asked.append(url)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def check(answer) -> list[str]:
    session = Session(answer)
    Secrets(session).check(REFERENCES)
    return session.asked


def test_only_whether_it_is_there_is_asked():
    assert check({"state": "ENABLED"}) == [
        "https://secretmanager.googleapis.com/v1/projects/lab/secrets/HF_TOKEN/versions/latest"
    ]


def test_one_that_is_missing_is_told_with_the_command_that_makes_it():
    with pytest.raises(SecretMissing) as missing:
        check(Missing("no"))
    assert missing.value.remedy == (
        'Put it there: `printf %s "$HF_TOKEN" | gcloud secrets create HF_TOKEN --project=lab '
        "--data-file=-`."
    )


def test_one_that_is_disabled_is_told():
    with pytest.raises(SecretMissing, match="disabled"):
        check({"state": "DISABLED"})


def test_who_may_not_look_leaves_it_to_the_nodes():
    assert check(PermissionMissing("no", remedy="Ask."))


def test_an_api_that_is_off_is_told():
    with pytest.raises(ApiDisabled):
        check(ApiDisabled("off", remedy="Turn it on."))
