from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest

from builders import make_event, make_run
from windlass.errors import OptionRefused
from windlass.state.open_store import open_store

WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from windlass.errors import ToolMissing
from windlass.state.open_store import open_store
try:
    open_store("postgresql://ada:s3cret@nowhere/runs")
except ToolMissing as error:
    print(error.remedy)
    assert "s3cret" not in str(error)
"""


def test_a_path_after_two_slashes_names_a_file(tmp_path):
    path = tmp_path / "a b" / "?c#d%20e.db"
    with contextlib.closing(open_store(f"sqlite://{path}")) as store:
        store.add_run(make_run(), make_event())
    assert path.is_file()


def test_memory_is_a_store_of_its_own_each_time():
    with contextlib.closing(open_store("sqlite://:memory:")) as first:
        first.add_run(make_run(), make_event())
        with contextlib.closing(open_store("sqlite://:memory:")) as second:
            assert second.get_run("r") is None


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite://relative/path.db",
        "mysql://ada:s3cret@host/runs",
        "/just/a/path",
        "ada:s3cret@host",
        "",
    ],
)
def test_a_url_of_no_store_is_refused_without_its_password(url):
    with pytest.raises(OptionRefused) as caught:
        open_store(url)
    assert "s3cret" not in f"{caught.value} {caught.value.remedy}"
    assert "sqlite:///" in caught.value.remedy


def test_a_missing_driver_is_named_with_how_to_install_it():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PSYCOPG], capture_output=True, text=True, check=True
    )
    assert "pip install 'windlass[postgres]'" in done.stdout


def test_opening_a_file_does_not_import_the_driver_of_a_server():
    program = (
        "import sys; from windlass.state.open_store import open_store;"
        " open_store('sqlite://:memory:').close(); assert 'psycopg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
