"""Names of the objects in a run's folder: the contract between nodes and the control plane.

Must not touch files: it only says what they are called. Names are relative to the run's folder.
"""

from __future__ import annotations

RUNS = "runs"
"""The folder of all run folders."""
SPEC = "spec.yaml"


def source(sha: str) -> str:
    """The archive of the workdir."""
    return f"source-{sha}.tar"


def attempt(number: int) -> str:
    """The folder of an attempt."""
    return f"attempts/{number}"


def winner(number: int) -> str:
    """The fence: names the claim whose ranks may run, or none. Created once, never changed."""
    return f"attempts/{number}/winner.json"


def opened(number: int) -> str:
    """Names the claims that were held until the attempt before was over, and may win now."""
    return f"attempts/{number}/open.json"


def claim(number: int, claim_id: str) -> str:
    """The folder of a claim."""
    return f"attempts/{number}/{claim_id}"


def claim_file(number: int, claim_id: str) -> str:
    """What the agents of a claim are to do."""
    return f"{claim(number, claim_id)}/claim.json"


def go(number: int, claim_id: str) -> str:
    """Created by node 0 when every node is ready: ranks start together."""
    return f"{claim(number, claim_id)}/go.json"


def end(number: int, claim_id: str) -> str:
    """Created only if absent by the node that fails first: the first failure decides."""
    return f"{claim(number, claim_id)}/end.json"


def gang_notice(number: int, claim_id: str) -> str:
    """Created only if absent by the first node that is told it will be taken away."""
    return f"{claim(number, claim_id)}/notice.json"


def node(number: int, claim_id: str, node_index: int) -> str:
    """The folder of one node of a claim."""
    return f"{claim(number, claim_id)}/nodes/{node_index}"


def heartbeat(number: int, claim_id: str, node_index: int) -> str:
    """Written every few seconds while the agent lives."""
    return f"{node(number, claim_id, node_index)}/heartbeat.json"


def notice(number: int, claim_id: str, node_index: int) -> str:
    """Written when the node learns that it will be taken away."""
    return f"{node(number, claim_id, node_index)}/notice.json"


def exit_file(number: int, claim_id: str, node_index: int) -> str:
    """Written once, when every rank of the node has ended."""
    return f"{node(number, claim_id, node_index)}/exit.json"


def rank(number: int, claim_id: str, node_index: int, rank_index: int) -> str:
    """The folder of one rank: numbered chunks of its log and its progress."""
    return f"{node(number, claim_id, node_index)}/rank-{rank_index}"


def setup_log(number: int, claim_id: str, node_index: int) -> str:
    """The folder of the numbered chunks of what `setup` printed."""
    return f"{node(number, claim_id, node_index)}/setup"


def requests(number: int, claim_id: str, node_index: int) -> str:
    """The folder of commands that people ask a node to run (`windlass exec`)."""
    return f"{node(number, claim_id, node_index)}/exec"


def chunk(stem: str, index: int, suffix: str) -> str:
    """One numbered chunk of a stream; a bucket cannot append."""
    return f"{stem}-{index:05d}.{suffix}"
