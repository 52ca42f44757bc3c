"""Findings are made by what they mean."""

from __future__ import annotations

from windlass.policy.findings import bad, note, ok


def test_a_finding_carries_its_verdict_and_its_fix():
    assert (ok("a", "b").verdict, note("a", "b").verdict) == ("ok", "note")
    assert bad("a", "b", "mend").remedy == "mend"
