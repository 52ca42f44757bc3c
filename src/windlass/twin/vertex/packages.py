"""How a replica runs a Python package from Cloud Storage: by a small program in its machine.

Must not install: Vertex AI runs `pip install` in the container, the twin unpacks the packages
beside what its machines have and says so in the log.
"""

from __future__ import annotations

import json
from typing import Any

PATH = "/opt/vertex/run_package.py"
PROGRAM = '''"""Fetches Python packages from Cloud Storage and runs a module of them."""
import json, os, sys, tarfile, urllib.parse, urllib.request, zipfile


def fetched(url, headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
        return answer.read()


def token():
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    path = "computeMetadata/v1/instance/service-accounts/default/token"
    found = fetched("http://%s/%s" % (host, path), {"Metadata-Flavor": "Google"})
    return json.loads(found)["access_token"]


def unpacked(uri, bearer, folder):
    bucket, _, name = uri[len("gs://"):].partition("/")
    base = os.environ.get("STORAGE_EMULATOR_HOST", "https://storage.googleapis.com")
    quoted = urllib.parse.quote(name, safe="")
    url = "%s/storage/v1/b/%s/o/%s?alt=media" % (base, bucket, quoted)
    content = fetched(url, {"Authorization": "Bearer " + bearer})
    os.makedirs(folder, exist_ok=True)
    archive = os.path.join(folder, os.path.basename(name))
    with open(archive, "wb") as file:
        file.write(content)
    into = os.path.join(folder, "tree")
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(into)
        return [into]
    with tarfile.open(archive) as opened:
        opened.extractall(into)
    # A source distribution has one folder, and its packages in there or in src.
    tops = [os.path.join(into, name) for name in sorted(os.listdir(into))]
    return [path for top in tops for path in (top, os.path.join(top, "src")) if os.path.isdir(path)]


module, uris, arguments = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
paths = []
bearer = token()
for number, uri in enumerate(uris):
    print("twin: unpacking %s in the place of pip install" % uri, flush=True)
    paths += unpacked(uri, bearer, "%s/package-%d" % (here, number))
known = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path]
os.environ["PYTHONPATH"] = ":".join(known + paths)
os.execvp("python3", ["python3", "-m", module] + arguments)
'''


def command(spec: dict[str, Any]) -> tuple[str, ...]:
    """What a machine runs for a pythonPackageSpec; PROGRAM must be at PATH in it."""
    uris = json.dumps(spec["packageUris"])
    return ("python3", PATH, spec["pythonModule"], uris, *spec.get("args", []))
