"""Names of secrets: a bare one is the project's newest, a full one is taken as it is."""

from __future__ import annotations

import pytest

from windlass.engines.secret_names import references
from windlass.errors import EngineRejected


@pytest.mark.parametrize(
    ("source", "reference"),
    [
        ("HF_TOKEN", "projects/lab/secrets/HF_TOKEN/versions/latest"),
        ("hf-token", "projects/lab/secrets/hf-token/versions/latest"),
        ("projects/shared/secrets/hf", "projects/shared/secrets/hf/versions/latest"),
        ("projects/shared/secrets/hf/versions/3", "projects/shared/secrets/hf/versions/3"),
        (
            "projects/s/locations/europe-west4/secrets/hf",
            "projects/s/locations/europe-west4/secrets/hf/versions/latest",
        ),
    ],
)
def test_what_a_spec_says_becomes_the_name_of_a_version(source, reference):
    assert references({"TOKEN": source}, "lab") == {"TOKEN": reference}


@pytest.mark.parametrize(
    "source",
    ["my token", "secrets/hf", "projects/p/secrets/", "a" * 256, "projects/p/secrets/x/y", "$(id)"],
)
def test_what_secret_manager_could_never_have_is_refused(source):
    with pytest.raises(EngineRejected, match="TOKEN"):
        references({"TOKEN": source}, "lab")
