#!/bin/bash
# Windlass: start the agent of this node.
set -u
mkdir -p /var/lib/windlass && chmod 700 /var/lib/windlass && cd /var/lib/windlass
cat > machine.py <<'WINDLASS'
import email.utils, json, os, re, time, urllib.error, urllib.parse, urllib.request
def look(path):
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    url = "http://%s/computeMetadata/v1/%s" % (host, path)
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    # The metadata server is never behind a proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=20)
def metadata(path):
    return look(path).read().decode()
def google_now():
    # Google's time rather than the machine's: leases on machines are counted in it.
    try:
        said = look("instance/id").headers["Date"]
        return email.utils.parsedate_to_datetime(said).timestamp()
    except (OSError, TypeError, ValueError):
        return time.time()
def ask(method, url):
    token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
    request = urllib.request.Request(
        url, method=method, headers={"Authorization": "Bearer " + token})
    return urllib.request.urlopen(request, timeout=120).read()
def stored(url):
    bucket, _, name = url[len("gs://"):].partition("/")
    return "https://storage.googleapis.com/storage/v1/b/%s/o/%s" % (
        bucket, urllib.parse.quote(name, safe=""))
def order():
    return json.load(open("order.json"))
def node(order):
    return int(metadata(order["node_from"]).rpartition("-")[2])
def address(order):
    return metadata("instance/network-interfaces/0/ip")
def environment(order):
    return {}
WINDLASS
cat > fetch.py <<'WINDLASS'
import sys
from machine import *
url, place = sys.argv[1:]
try:
    content = ask("GET", stored(url) + "?alt=media")
except OSError as error:
    sys.exit("windlass: the agent cannot be fetched from %s: %s" % (url, error))
with open(place + ".part", "wb") as file:
    file.write(content)
os.replace(place + ".part", place)
order = order()
order["address"] = address(order)
order["node"] = node(order)
order["env"] = {**os.environ, **order["env"], **environment(order)}
json.dump(order, open("node.json", "w"))
WINDLASS
cat > order.json <<'WINDLASS'
{
 "address": "",
 "attempt": 1,
 "claim": "train-1-0",
 "env": {},
 "folder": "gs://runs/runs/train",
 "lock": "/var/lib/windlass/lock",
 "node_from": "instance/name",
 "secrets": null,
 "wake": null,
 "watch": "metadata",
 "work": "/var/lib/windlass/work"
}
WINDLASS
cat > expire.py <<'WINDLASS'
import sys
from machine import *
ends_at, lasts_s, spare_s = map(float, sys.argv[1:])
now = google_now()
try:
    came_at = float(open("came_at").read())
except (OSError, ValueError):
    came_at = now
    open("came_at", "w").write(repr(came_at))
until = min(ends_at, came_at + lasts_s)
try:
    until += 0 if node(order()) == 0 else spare_s
except (OSError, KeyError, ValueError):
    pass
rate, nap = 1.0, 1.0
while now < until:
    began = time.monotonic()
    time.sleep(min(max((until - now) / rate / 2, 0.5), nap))
    later = google_now()
    rate = max(1.0, (later - now) / (time.monotonic() - began))
    now, nap = later, min(nap * 2, 30.0)
WINDLASS
cat > leave.py <<'WINDLASS'
from machine import *
ask("DELETE", "https://compute.googleapis.com/compute/v1/projects/%s/zones/%s/instances/%s" % (
    metadata("project/project-id"), metadata("instance/zone").rpartition("/")[2],
    metadata("instance/name")))
WINDLASS
(python3 expire.py 1760086400 86380 0; python3 leave.py || poweroff) &
for wait in 1 2 4 8 16 30 30 30; do
  python3 fetch.py gs://runs/agents/agent.pyz agent.pyz && break
  sleep $wait
done
python3 agent.pyz node.json
python3 leave.py
poweroff
