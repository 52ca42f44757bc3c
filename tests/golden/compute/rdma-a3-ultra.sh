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
content = ask("GET", stored(url) + "?alt=media")
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
# GPUDirect-RDMA (gIB): where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME=enp0s19,enp192s20 GLOO_SOCKET_IFNAME=enp0s19,enp192s20
gpudirect() {
  keys=/etc/apt/keyrings
  mkdir -p $keys
  curl -fsS https://us-apt.pkg.dev/doc/repo-signing-key.gpg -o $keys/us-apt.asc || return 1
  curl -fsS https://packages.cloud.google.com/apt/doc/apt-key.gpg -o $keys/google.asc || return 1
  echo "deb [signed-by=$keys/google.asc] http://packages.cloud.google.com/apt \
apt-transport-artifact-registry-stable main" > /etc/apt/sources.list.d/windlass-transport.list
  apt-get -qq update && apt-get -qqy install apt-transport-artifact-registry || return 1
  echo "deb [signed-by=$keys/us-apt.asc] ar+https://us-apt.pkg.dev/projects/gce-ai-infra \
gpudirect-gib-apt main" > /etc/apt/sources.list.d/windlass-gib.list
  apt-get -qq update && apt-get -qqy install nccl-gib || return 1
}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
  LD_LIBRARY_PATH='/usr/local/gib/lib64'
  NCCL_CROSS_NIC='0'
  NCCL_IB_ADAPTIVE_ROUTING='1'
  NCCL_IB_FIFO_TC='84'
  NCCL_IB_QPS_PER_CONNECTION='4'
  NCCL_IB_TC='52'
  NCCL_NET='gIB'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NVLS_CHUNKSIZE='524288'
  NCCL_P2P_NET_CHUNKSIZE='131072'
  NCCL_TUNER_CONFIG_PATH='/usr/local/gib/configs/tuner_config_a3u.txtpb'
  . /usr/local/gib/scripts/set_nccl_env.sh
  LD_LIBRARY_PATH='/usr/local/gib/lib64'
  NCCL_CROSS_NIC='0'
  NCCL_IB_ADAPTIVE_ROUTING='1'
  NCCL_IB_FIFO_TC='84'
  NCCL_IB_QPS_PER_CONNECTION='4'
  NCCL_IB_TC='52'
  NCCL_NET='gIB'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NVLS_CHUNKSIZE='524288'
  NCCL_P2P_NET_CHUNKSIZE='131072'
  NCCL_TUNER_CONFIG_PATH='/usr/local/gib/configs/tuner_config_a3u.txtpb'
  set +a -u
else
  echo "windlass: GPUDirect-RDMA (gIB) is not set up; see $PWD/gpudirect.log" > /dev/console
fi
for wait in 1 2 4 8 16 30 30 30; do
  python3 fetch.py gs://runs/agents/agent.pyz agent.pyz && break
  sleep $wait
done
python3 agent.pyz node.json
cat > leave.py <<'WINDLASS'
import json, os, urllib.request
def metadata(path):
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    url = "http://%s/computeMetadata/v1/%s" % (host, path)
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=20).read().decode()
token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
url = "https://compute.googleapis.com/compute/v1/projects/%s/zones/%s/instances/%s" % (
    metadata("project/project-id"), metadata("instance/zone").rpartition("/")[2],
    metadata("instance/name"))
request = urllib.request.Request(url, method="DELETE", headers={"Authorization": "Bearer " + token})
urllib.request.urlopen(request, timeout=60)
WINDLASS
python3 leave.py
poweroff
