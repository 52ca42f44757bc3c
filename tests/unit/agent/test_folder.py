"""The run folder on a disk: all or nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from windlass.agent.folder import DiskFolder

ROOT = Path(__file__).parents[3] / "src"

# A limit on the size of files behaves like a disk that fills up: the first part is taken.
FULL_DISK = """
import resource, sys
from pathlib import Path
from windlass.agent.folder import DiskFolder
folder = DiskFolder(Path(sys.argv[1]))
folder.append("log", b"before\\n")
folder.write("small", b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for act, name in ((folder.append, "log"), (folder.write, "small"), (folder.create, "new")):
    try:
        act(name, b"x" * 5000)
        print("written")
    except OSError:
        print("refused")
"""


def test_on_a_full_disk_an_object_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [b"refused"] * 3
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "log": b"before\n",
        "small": b"old",
    }


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../x", "a//b", "", "a/."])
def test_a_name_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name inside"):
        DiskFolder(tmp_path).read(name)
