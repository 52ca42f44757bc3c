"""What a replica does besides its agent: it knows its number, and ends when its time is over.

Must not call Vertex AI: the end of the first replica is the end of the training.
"""

from __future__ import annotations

from windlass.engines.bootstrap import OF_GANGS, RUN_AND_HEED, Manner, expire
from windlass.engines.lifetime import Lifetime

SPARE_S = 20
"""So long after expiry other replicas wait for the first one to have ended everything."""

# Nodes count through the worker pools in order. Hosts of a TPU slice are told apart by libtpu's own
# variables where the cluster lists only the first.
MACHINE = """\
def hosts(order):
    cluster = json.loads(os.environ["CLUSTER_SPEC"])["cluster"]
    found = [host.rpartition(":")[0] for pool in sorted(cluster) for host in cluster[pool]]
    if len(found) < order["nodes"]:
        found = os.environ.get("TPU_WORKER_HOSTNAMES", "").split(",")
    return found
def node(order):
    spec = json.loads(os.environ["CLUSTER_SPEC"])
    cluster, own = spec["cluster"], spec["task"]
    if sum(map(len, cluster.values())) < order["nodes"]:
        return int(os.environ["TPU_WORKER_ID"])
    before = [len(cluster[pool]) for pool in sorted(cluster) if pool < own["type"]]
    return sum(before) + int(own["index"])
def address(order):
    return hosts(order)[node(order)]
def environment(order):
    return {"PJRT_DEVICE": "TPU"} if order["has_tpu"] else {}"""


def manner(life: Lifetime) -> Manner:
    """How replicas start. A container's first process is told that it has to end, and nobody else
    is."""
    deadman = f"({expire(life, spare_s=SPARE_S)}; kill -TERM $agent) &\n"
    return Manner(
        machine=MACHINE,
        run=RUN_AND_HEED.format(meanwhile=deadman),
        leave="python3 await.py\nexit 0\n",
        programs=OF_GANGS,
    )
