"""A Python package is fetched from Cloud Storage with the machine's own token, and run."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from windlass.twin.vertex import packages

TASK = b"import sys\nfrom trainer.words import WORD\nprint(WORD, sys.argv[1:])\nsys.exit(5)\n"
FILES = {"trainer/__init__.py": b"", "trainer/words.py": b"WORD = 'ran'\n", "trainer/task.py": TASK}


def source_distribution(folder):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in FILES.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return held.getvalue()


def wheel():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    return held.getvalue()


class Answers(BaseHTTPRequestHandler):
    """The metadata server and Cloud Storage, in one."""

    contents: dict[str, bytes] = {}

    def do_GET(self):
        if self.path.endswith("/token"):
            status, content = 200, b'{"access_token": "t0"}'
            assert self.headers["Metadata-Flavor"] == "Google"
        elif self.headers["Authorization"] == "Bearer t0" and self.path in self.contents:
            status, content = 200, self.contents[self.path]
        else:
            status, content = 404, b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Nobody reads it."""


@pytest.fixture
def address():
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trainer-0.1.tar.gz", source_distribution("trainer-0.1")),
        ("sources.tar.gz", source_distribution("sources-2/src")),
        ("trainer-0.1-py3-none-any.whl", wheel()),
    ],
)
def test_a_package_is_fetched_and_run(tmp_path, address, name, content):
    Answers.contents = {f"/storage/v1/b/shelf/o/packages%2F{name}?alt=media": content}
    program = tmp_path / "run_package.py"
    program.write_text(packages.PROGRAM)
    spec = {
        "packageUris": [f"gs://shelf/packages/{name}"],
        "pythonModule": "trainer.task",
        "args": ["--epochs", "3"],
    }
    python, path, *rest = packages.command(spec)
    assert (python, path) == ("python3", packages.PATH)
    done = subprocess.run(
        [sys.executable, str(program), *rest],
        env={
            "PATH": os.environ["PATH"],
            "GCE_METADATA_HOST": address,
            "STORAGE_EMULATOR_HOST": f"http://{address}",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5, done.stderr
    assert "ran ['--epochs', '3']" in done.stdout
    assert "in the place of pip install" in done.stdout
