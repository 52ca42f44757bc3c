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
# GPUDirect-TCPX: where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME=enp0s12 GLOO_SOCKET_IFNAME=enp0s12
gpudirect() {
  uname -r | grep -q tcpx || return 1
  iptables -I INPUT -p tcp -m tcp -j ACCEPT
  docker run --rm --network=host -v /var/lib:/var/lib us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9 install --install-nccl \
    || return 1
  mkdir -p /run/tcpx
  docker run -d --restart=no --name windlass-tcpx --privileged --cap-add=NET_ADMIN \
    --network=host --gpus all -v /run/tcpx:/run/tcpx us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12 \
    /tcpgpudmarxd/build/app/tcpgpudmarxd --gpu_nic_preset a3vm --gpu_shmem_type fd \
    --uds_path /run/tcpx --setup_param "--verbose 128 2 0 " || return 1
}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
  LD_LIBRARY_PATH='/var/lib/tcpx/lib64'
  NCCL_ALGO='Ring'
  NCCL_BUFFSIZE='4194304'
  NCCL_CROSS_NIC='0'
  NCCL_DYNAMIC_CHUNK_SIZE='524288'
  NCCL_GPUDIRECTTCPX_CTRL_DEV='enp0s12'
  NCCL_GPUDIRECTTCPX_FORCE_ACK='0'
  NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS='500000'
  NCCL_GPUDIRECTTCPX_RX_BINDINGS='enp6s0:22-35,126-139;enp12s0:22-35,126-139;enp134s0:74-87,178-191;enp140s0:74-87,178-191'
  NCCL_GPUDIRECTTCPX_SOCKET_IFNAME='enp6s0,enp12s0,enp134s0,enp140s0'
  NCCL_GPUDIRECTTCPX_TX_BINDINGS='enp6s0:8-21,112-125;enp12s0:8-21,112-125;enp134s0:60-73,164-177;enp140s0:60-73,164-177'
  NCCL_GPUDIRECTTCPX_TX_COMPLETION_NANOSLEEP='1000'
  NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX='/run/tcpx'
  NCCL_MAX_NCHANNELS='8'
  NCCL_MIN_NCHANNELS='8'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NSOCKS_PERTHREAD='4'
  NCCL_P2P_NET_CHUNKSIZE='524288'
  NCCL_P2P_NVL_CHUNKSIZE='1048576'
  NCCL_P2P_PCI_CHUNKSIZE='524288'
  NCCL_P2P_PXN_LEVEL='0'
  NCCL_PROTO='Simple'
  NCCL_SOCKET_NTHREADS='1'
  set +a -u
else
  echo "windlass: GPUDirect-TCPX is not set up; see $PWD/gpudirect.log" > /dev/console
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
