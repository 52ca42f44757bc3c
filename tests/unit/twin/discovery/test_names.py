"""Bodies with the names of protocol buffers are read as Google's front end reads them."""

from __future__ import annotations

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.names import field_names


def test_names_with_underscores_are_understood_at_every_depth():
    body = {
        "dry_run": False,
        "entries": [{"log_name": "x", "resource": {"type": "y", "labels": {"job_id": "1"}}}],
    }
    assert field_names(load_api("logging", "v2"), "WriteLogEntriesRequest", body) == {
        "dryRun": False,
        "entries": [{"logName": "x", "resource": {"type": "y", "labels": {"job_id": "1"}}}],
    }


def test_what_the_document_does_not_know_stays_for_the_checker():
    body = {"dry_walk": True, "entries": [{"jsonPayload": {"is_last": True}}]}
    assert field_names(load_api("logging", "v2"), "WriteLogEntriesRequest", body) == body


def test_compute_engine_takes_its_own_names_only():
    body = {"machine_type": "x"}
    assert field_names(load_api("compute", "v1"), "Instance", body) == body
