"""Fixtures of the controller's tests."""

from __future__ import annotations

import pytest

from controllers import Controller


@pytest.fixture
def controller(tmp_path):
    controller = Controller(tmp_path)
    yield controller
    controller.close()
