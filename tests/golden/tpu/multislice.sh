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
def said():
    lines = metadata("instance/attributes/tpu-env")
    return dict(re.findall(r"^(\w+): '(.*)'$", lines, re.MULTILINE))
def node(order):
    worker = int(metadata("instance/attributes/agent-worker-number"))
    return int(said().get("MEGASCALE_SLICE_ID", 0)) * order["slice_hosts"] + worker
def address(order):
    return metadata("instance/network-interfaces/0/ip")
def environment(order):
    slices = {name: text for name, text in said().items() if name.startswith("MEGASCALE_")}
    return {"PJRT_DEVICE": "TPU", **slices}
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
 "nodes": 8,
 "secrets": null,
 "slice_hosts": 4,
 "wake": null,
 "watch": "metadata",
 "work": "/var/lib/windlass/work"
}
WINDLASS
cat > await.py <<'WINDLASS'
import sys
from machine import *
order = order()
if node(order) != 0:
    sys.exit(1)
left = list(range(order["nodes"]))
until = time.monotonic() + 60
while left and time.monotonic() < until:
    name = "%s/attempts/%d/%s/nodes/%d/exit.json" % (
        order["folder"], order["attempt"], order["claim"], left[0])
    try:
        ask("GET", stored(name) + "?fields=name")
        left.pop(0)
    except urllib.error.HTTPError as error:
        if left[0] == 0 and error.code == 404:
            break
        time.sleep(1)
    except OSError:
        time.sleep(1)
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
cat > give_back.py <<'WINDLASS'
import sys
from machine import *
for nap in [2, 4, 8] + [15] * 40:
    try:
        ask("DELETE", sys.argv[1])
        break
    except urllib.error.HTTPError as error:
        if error.code == 404:
            break
    except OSError:
        pass
    time.sleep(nap)
WINDLASS
cat > hurry.py <<'WINDLASS'
import signal, sys
from machine import *
order, agent = order(), int(sys.argv[1])
name = "%s/attempts/%d/%s/hurry.json" % (order["folder"], order["attempt"], order["claim"])
while os.path.exists("/proc/%d" % agent):
    try:
        ask("GET", stored(name) + "?fields=name")
    except OSError:
        time.sleep(1)
        continue
    os.kill(agent, signal.SIGUSR1)
    break
WINDLASS
(python3 expire.py 1760086400 86400 20; python3 give_back.py 'https://tpu.googleapis.com/v2/projects/lab/locations/us-central1-a/queuedResources/w-train-1-0?force=true') &
for wait in 1 2 4 8 16 30 30 30; do
  python3 fetch.py gs://runs/agents/agent.pyz agent.pyz && break
  sleep $wait
done
python3 agent.pyz node.json &
agent=$!
trap 'kill -TERM $agent 2>/dev/null; python3 hurry.py $agent &' TERM
while kill -0 $agent 2>/dev/null; do wait $agent; done
python3 await.py && python3 give_back.py 'https://tpu.googleapis.com/v2/projects/lab/locations/us-central1-a/queuedResources/w-train-1-0?force=true'
