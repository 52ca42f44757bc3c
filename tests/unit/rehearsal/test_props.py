"""What a rehearsal leaves out, and what it puts in its place."""

from __future__ import annotations

import base64

from windlass.rehearsal.props import keep_secrets, staged
from windlass.spec.model import Spec


def spec(**fields) -> Spec:
    return Spec(**{"name": "llm", "run": "python train.py", **fields})


def test_what_names_something_of_a_project_is_left_out_and_told():
    own = {"network": "windlass", "kms_key": "k", "disk_gb": 200}
    played = staged(spec(engine={"compute": own, "vertex": {"service_account": "a@b"}}))
    assert played.spec.engine == {"compute": {"disk_gb": 200, "gpudirect": False}, "vertex": {}}
    assert played.left_out == (
        "engine.compute.network",
        "engine.compute.kms_key",
        "engine.vertex.service_account",
    )


def test_gpus_of_a_gang_need_no_networks_here():
    played = staged(spec())
    assert played.spec.engine == {"compute": {"gpudirect": False}}
    assert played.left_out == ()


def test_secrets_are_those_of_the_stage():
    played = staged(spec(secrets={"TOKEN": "projects/shared/secrets/hf/versions/3"}))
    assert played.spec.secrets == {"TOKEN": "TOKEN"}


class Stage:
    project = "twin-project"

    def __init__(self):
        self.asked = []

    def ask(self, method, path, body):
        self.asked.append((path.rpartition("/")[2], body))


def test_a_secret_has_the_callers_value_or_a_made_up_one():
    stage = Stage()
    made_up = keep_secrets(stage, {"A": "HF_TOKEN", "B": "NOT_SET"}, {"HF_TOKEN": "hf-1"})
    assert made_up == ["B"]
    values = [
        base64.b64decode(body["payload"]["data"]).decode()
        for name, body in stage.asked
        if name.endswith(":addVersion")
    ]
    assert values == ["hf-1", "rehearsed-B"]
