"""A process that lives in another environment from now on."""

from __future__ import annotations

import os

from windlass.ports.environment import adopt


def test_nothing_of_the_old_one_is_left(monkeypatch):
    before = dict(os.environ)
    monkeypatch.setenv("OLD", "1")
    try:
        adopt({"NEW": "2", "PATH": before["PATH"]})
        assert dict(os.environ) == {"NEW": "2", "PATH": before["PATH"]}
    finally:
        os.environ.update(before)
