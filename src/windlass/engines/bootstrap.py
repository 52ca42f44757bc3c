"""The start-up script of a node on Google Cloud: fetches the agent from the run's folder and
becomes it.

Must not hold a secret: metadata is read by everybody who may look at the machine. Must not name
an engine: which node it is, a machine finds out from its own metadata.
"""

from __future__ import annotations

import json
from typing import Any

AGENT = "agent.pyz"
PLACE = "/var/lib/windlass"

# Runs once per boot; a node that reboots must not start a second agent, whose lock would refuse it
# anyway. Python is on every image that we use; nothing else is taken for granted.
SCRIPT = """#!/bin/bash
# Windlass: start the agent of this node.
set -u
mkdir -p {place} && chmod 700 {place} && cd {place}
cat > fetch.py <<'WINDLASS'
{fetch}
WINDLASS
cat > order.json <<'WINDLASS'
{order}
WINDLASS
for wait in 1 2 4 8 16 30 30 30; do
  python3 fetch.py {agent_url} {agent} && break
  sleep $wait
done
python3 {agent} node.json
{leave}"""

FETCH = """\
import json, os, sys, urllib.parse, urllib.request
def metadata(path):
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    url = "http://%s/computeMetadata/v1/%s" % (host, path)
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    # The metadata server is never behind a proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=20).read().decode()
url, place = sys.argv[1:]
bucket, _, name = url[len("gs://"):].partition("/")
token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
target = "https://storage.googleapis.com/storage/v1/b/%s/o/%s?alt=media" % (
    bucket, urllib.parse.quote(name, safe=""))
request = urllib.request.Request(target, headers={"Authorization": "Bearer " + token})
content = urllib.request.urlopen(request, timeout=120).read()
with open(place + ".part", "wb") as file:
    file.write(content)
os.replace(place + ".part", place)
order = json.load(open("order.json"))
order["address"] = metadata("instance/network-interfaces/0/ip")
order["node"] = int(metadata(order.pop("node_from")).rpartition("-")[2])
json.dump(order, open("node.json", "w"))"""


def startup_script(order: dict[str, Any], *, agent_url: str, leave: str) -> str:
    """The script for one node; `leave` are the lines that give the machine back when the agent
    has ended."""
    return SCRIPT.format(
        leave=leave,
        place=PLACE,
        fetch=FETCH,
        order=json.dumps(order, indent=1, sort_keys=True),
        agent=AGENT,
        agent_url=agent_url,
    )


def node_order(*, folder: str, attempt: int, claim: str, node_from: str) -> dict[str, Any]:
    """What the agents of a claim are told. Which node one is, it reads from the metadata at
    `node_from`: a number, or a name that ends in one."""
    return {
        "folder": folder,
        "attempt": attempt,
        "claim": claim,
        "node_from": node_from,
        "work": f"{PLACE}/work",
        "address": "",
        "lock": f"{PLACE}/lock",
        "env": {},
        "secrets": None,
        "wake": None,
    }
