"""What a worker of a slice does besides its agent: it knows its number, and gives slices back.

Must not rely on Cloud TPU to end anything: its API has no limit of run time.
"""

from __future__ import annotations

from windlass.engines.bootstrap import OF_GANGS, RUN_AND_HEED, Manner, expire
from windlass.engines.lifetime import Lifetime

SPARE_S = 20
"""So long after expiry other workers wait for the first one to have given everything back: little
enough that a slice whose first worker is dead costs no more than a billing tick above a budget."""

# Workers count through the slices in order. What Cloud TPU says of other slices goes to the ranks,
# as libtpu reads it.
MACHINE = """\
def said():
    lines = metadata("instance/attributes/tpu-env")
    return dict(re.findall(r"^(\\w+): '(.*)'$", lines, re.MULTILINE))
def node(order):
    worker = int(metadata("instance/attributes/agent-worker-number"))
    return int(said().get("MEGASCALE_SLICE_ID", 0)) * order["slice_hosts"] + worker
def address(order):
    return metadata("instance/network-interfaces/0/ip")
def environment(order):
    slices = {name: text for name, text in said().items() if name.startswith("MEGASCALE_")}
    return {"PJRT_DEVICE": "TPU", **slices}"""


def manner(url: str, life: Lifetime) -> Manner:
    """How workers start; `url` is that of their queued resource."""
    give_back = f"python3 give_back.py '{url}?force=true'"
    return Manner(
        machine=MACHINE,
        # Before the agent is fetched: a slice that cannot have one must end too.
        meanwhile=f"({expire(life, spare_s=SPARE_S)}; {give_back}) &\n",
        run=RUN_AND_HEED.format(meanwhile=""),
        leave=f"python3 await.py && {give_back}\n",
        programs=OF_GANGS,
    )
