"""What kept a node from starting is told with the command that helps."""

from __future__ import annotations

import io
import urllib.error
from email.message import Message
from pathlib import Path

import pytest

from windlass.agent import secrets
from windlass.controller.node_symptoms import cure_of_early, symptom_of_node
from windlass.engines import bootstrap_programs

REFERENCE = "projects/p/secrets/team-hf/versions/latest"


def said_by_agent(monkeypatch, status: int, message: str) -> str:
    """The reason as the agent's own code words it, so that both sides stay of one mind."""

    def refuse(reference, token):
        body = io.BytesIO(f'{{"error": {{"message": "{message}"}}}}'.encode())
        raise urllib.error.HTTPError("https://x", status, message, Message(), body)

    monkeypatch.setattr(secrets, "_ask", refuse)
    monkeypatch.setattr(secrets.MachineSource, "email", lambda self: "runs@p")
    with pytest.raises(secrets.SecretRefused) as refused:
        secrets.fetch({"HF_TOKEN": REFERENCE}, lambda is_anew: "token", patience_s=0.0)
    return str(refused.value)


def test_a_secret_that_may_not_be_read_names_the_grant(monkeypatch):
    symptom = symptom_of_node(said_by_agent(monkeypatch, 403, "Permission 'x.access' denied."))
    assert symptom.what == "the secret HF_TOKEN cannot be read"
    assert f"Secret Manager said of {REFERENCE}: Permission 'x.access' denied." in symptom.why
    assert "`gcloud secrets add-iam-policy-binding projects/p/secrets/team-hf " in symptom.remedy
    assert "--member=serviceAccount:runs@p" in symptom.remedy


def test_a_secret_that_is_not_there_names_how_to_make_it(monkeypatch):
    symptom = symptom_of_node(said_by_agent(monkeypatch, 404, "Secret [team-hf] not found"))
    assert "gcloud secrets create team-hf --project=p" in symptom.remedy
    assert "gcloud secrets versions add team-hf --project=p" in symptom.remedy
    assert f"Secret Manager said of {REFERENCE}: Secret [team-hf] not found." in symptom.why


def test_a_version_that_is_destroyed_has_no_command_of_its_own(monkeypatch):
    symptom = symptom_of_node(said_by_agent(monkeypatch, 400, "it is in DESTROYED state"))
    assert symptom.name == "secret-unreadable"
    assert symptom.remedy.startswith("Mend the secret")


def test_a_secret_that_is_no_text(monkeypatch):
    monkeypatch.setattr(secrets, "_ask", lambda reference, token: b"{}")
    with pytest.raises(secrets.SecretRefused) as refused:
        secrets.fetch({"HF_TOKEN": REFERENCE}, lambda is_anew: "token")
    assert symptom_of_node(str(refused.value)).what.startswith("the secret HF_TOKEN is no text")


def test_what_is_not_known_is_told_as_it_is():
    symptom = symptom_of_node("the node could not be prepared: no space left.")
    assert (symptom.name, symptom.what) == ("", "the node could not be prepared: no space left")


EARLY = {
    "HTTP Error 403: Forbidden": "gcloud storage buckets add-iam-policy-binding gs://my-runs ",
    "<urlopen error timed out>": "`windlass network up`",
}


@pytest.mark.parametrize(("why", "cure"), EARLY.items())
def test_machines_that_cannot_fetch_the_agent_name_what_helps(why, cure):
    line = f"startup-script: windlass: the agent cannot be fetched from gs://my-runs/a/b.pyz: {why}"
    (said,) = cure_of_early(["booting", line, "going on"])
    assert cure in said
    assert cure_of_early(["booting", line.replace(why, "HTTP Error 500: Sorry")]) == ()


def test_the_start_up_script_says_it_in_these_words():
    words = "windlass: the agent cannot be fetched from %s: %s"
    assert words in Path(bootstrap_programs.__file__).read_text()
