"""A pip that installs is recognised however it is called, and nothing else is."""

from __future__ import annotations

import pytest

from windlass.twin.machines.inside.pip_hook import is_install

LINES = {
    "python3 -m pip install --upgrade pip": True,
    "v/bin/python v/bin/pip install torch": True,
    "/usr/bin/python3 /usr/bin/pip3 -q install torch": True,
    "python3 -u -m pip --quiet install x": True,
    "python3 -m pip list": False,
    "python3 install.py install": False,
    "python3 setup.py install": False,
    "python3 -m pipeline install": False,
}


@pytest.mark.parametrize("line", LINES)
def test_these_words_are_told_apart(line):
    assert is_install(line.split()) is LINES[line]
