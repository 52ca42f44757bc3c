"""The small programs that a node runs before and beside its agent, as text.

Must not import anything of ours: they run on a machine that has only Python. Must not hold a
secret.
"""

from __future__ import annotations

# What a machine knows about itself. Every program below imports it.
MACHINE = """\
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
    return json.load(open("order.json"))"""

# Where every node has a name that ends in its number.
BY_NAME = """\
def node(order):
    return int(metadata(order["node_from"]).rpartition("-")[2])
def address(order):
    return metadata("instance/network-interfaces/0/ip")
def environment(order):
    return {}"""

FETCH = """\
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
json.dump(order, open("node.json", "w"))"""

# Where the end of the first node is the end of all, it waits until the others have said how they
# ended. Another node has nothing to give back, which its status says. One that has not said its own
# end is a double that came too late: whoever it would wait for is of the gang that works.
AWAIT = """\
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
        time.sleep(1)"""

# Ends when the claim's time is over by Google's clock, of which it first sees how fast it goes: at
# a moment, or so long after the machine first came. On other nodes than the first a little later,
# should the first be dead.
EXPIRE = """\
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
    now, nap = later, min(nap * 2, 30.0)"""

GIVE_BACK = """\
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
    time.sleep(nap)"""

# Runs while the agent is ending: whoever has no patience for that leaves an object in the claim's
# folder.
HURRY = """\
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
    break"""
