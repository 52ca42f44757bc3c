"""What a replica's program finds: its command, its environment, and its neighbours by name.

Must not start it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from windlass.twin.machine import Boot
from windlass.twin.vertex import packages

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.vertex.training import Training

PORT = 2222
TENSORFLOW_ROLES = {0: "chief", 1: "worker", 2: "ps", 3: "evaluator"}
DIRECTORIES = {
    "AIP_MODEL_DIR": "model/",
    "AIP_CHECKPOINT_DIR": "checkpoints/",
    "AIP_TENSORBOARD_LOG_DIR": "logs/",
}


def split(replica: str) -> tuple[int, int]:
    """The pool and the number in it, of `workerpool1-2`."""
    pool, _, number = replica.removeprefix("workerpool").partition("-")
    return int(pool), int(number)


def hostname(training: Training, replica: str) -> str:
    """As Vertex AI names a replica's host."""
    pool, number = split(replica)
    return f"cmle-training-workerpool{pool}-{int(training.id):x}-{number}"


def boot(training: Training, replica: str, *, gpus: tuple[str, ...], cloud: Cloud) -> Boot | None:
    """What a replica's machine runs; None where only its image would know."""
    pool = training.spec["workerPoolSpecs"][split(replica)[0]]
    container, package = pool.get("containerSpec"), pool.get("pythonPackageSpec")
    files = {}
    if package:
        argv = packages.command(package)
        files[packages.PATH] = packages.PROGRAM
    else:
        argv = (*container.get("command", []), *container.get("args", []))
        if not container.get("command"):
            return None
    given = {one["name"]: one.get("value", "") for one in (container or package).get("env", [])}
    return Boot(
        hostname=hostname(training, replica),
        environment={**environment(training, replica, cloud=cloud), **given},
        argv=argv,
        files=files,
        gpus=gpus,
        neighbours={
            hostname(training, other): machine_id
            for other, machine_id in training.replicas.items()
            if other != replica
        },
    )


def environment(training: Training, replica: str, *, cloud: Cloud) -> dict[str, str]:
    """What Vertex AI sets."""
    variables = {
        "CLOUD_ML_PROJECT_ID": cloud.settings.project_number,
        "CLOUD_ML_REGION": training.region,
        "CLOUD_ML_JOB_ID": training.id,
        "CLUSTER_SPEC": json.dumps(_cluster_spec(training, replica)),
        "TF_CONFIG": json.dumps(_tensorflow(training, replica)),
    }
    output = (training.spec.get("baseOutputDirectory") or {}).get("outputUriPrefix", "")
    if output:
        variables |= {
            name: f"{output.rstrip('/')}/{folder}" for name, folder in DIRECTORIES.items()
        }
    return variables


def _hosts(training: Training) -> dict[int, list[str]]:
    hosts: dict[int, list[str]] = {}
    for name in sorted(training.replicas, key=split):
        hosts.setdefault(split(name)[0], []).append(f"{hostname(training, name)}:{PORT}")
    return hosts


def _cluster_spec(training: Training, replica: str) -> dict[str, Any]:
    pool, number = split(replica)
    return {
        "cluster": {f"workerpool{at}": hosts for at, hosts in _hosts(training).items()},
        "environment": "cloud",
        "task": {"type": f"workerpool{pool}", "index": number},
        "job": json.dumps(training.spec),
    }


def _tensorflow(training: Training, replica: str) -> dict[str, Any]:
    pool, number = split(replica)
    return {
        "cluster": {TENSORFLOW_ROLES[at]: hosts for at, hosts in _hosts(training).items()},
        "environment": "cloud",
        "task": {"type": TENSORFLOW_ROLES[pool], "index": number},
        "job": json.dumps(training.spec),
    }
