"""A request in other words: as the call that it comes to, and as a command of gcloud.

Must not send anything, nor read anything but the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.engines import shell
from windlass.engines.rendering import Call
from windlass.engines.tpu.request import TpuRequest
from windlass.google.tpu import ALPHA, BASE, place

SCRIPT = "startup_script"


def calls(request: TpuRequest, *, project: str) -> list[Call]:
    """What `submit` sends."""
    return [
        Call(
            method="POST",
            url=f"{BASE}/{request.version}/{place(project, request.zone)}/queuedResources",
            query={"queuedResourceId": request.name, "requestId": request.request_id},
            body=request.body,
        )
    ]


def gcloud_script(request: TpuRequest, *, project: str) -> str:
    """The same with gcloud."""
    (spec,) = request.body["tpu"]["nodeSpec"]
    script = spec["node"]["metadata"]["startup-script"]
    # Only this track knows flex-start, reservations by their name, and keys of disks.
    needs_alpha = "reservationName" in request.body or "bootDiskConfig" in spec["node"]
    track = ("alpha",) if request.version == ALPHA or needs_alpha else ()
    words = ("gcloud", *track, "compute", "tpus", "queued-resources", "create", request.name)
    place_flags = [f"--project={project}", f"--zone={request.zone}"]
    flags = [*place_flags, *_node(spec["node"]), *_count(spec), *_tier(request.body)]
    parts = [shell.HEADER, shell.file(SCRIPT, script), shell.command(*words, flags=flags)]
    return "\n".join(parts)


def _node(node: Mapping[str, Any]) -> Iterator[str]:
    metadata = {key: text for key, text in node["metadata"].items() if key != "startup-script"}
    yield f"--accelerator-type={node['acceleratorType']}"
    yield f"--runtime-version={node['runtimeVersion']}"
    yield f"--description={node['description']}"
    yield f"--labels={shell.pairs(node['labels'])}"
    yield f"--metadata={shell.pairs(metadata)}"
    yield f"--metadata-from-file=startup-script=${SCRIPT}"
    network = node["networkConfig"]
    yield f"--network={network['network']}"
    if "subnetwork" in network:
        yield f"--subnetwork={network['subnetwork']}"
    if not network["enableExternalIps"]:
        yield "--internal-ips"
    yield f"--scopes={','.join(node['serviceAccount']['scope'])}"
    if "email" in node["serviceAccount"]:
        yield f"--service-account={node['serviceAccount']['email']}"
    if "shieldedInstanceConfig" in node:
        yield "--shielded-secure-boot"
    if "bootDiskConfig" in node:
        key = node["bootDiskConfig"]["customerEncryptionKey"]["kmsKeyName"]
        yield f"--boot-disk=kms-key={key}"


def _count(spec: Mapping[str, Any]) -> Iterator[str]:
    several = spec.get("multisliceParams") or spec.get("multiNodeParams")
    if several is None:
        yield f"--node-id={spec['nodeId']}"
    else:
        yield f"--node-count={several['nodeCount']}"
        yield f"--node-prefix={several['nodeIdPrefix']}"


def _tier(body: Mapping[str, Any]) -> Iterator[str]:
    yield f"--valid-until-duration={body['queueingPolicy']['validUntilDuration']}"
    if "spot" in body:
        yield "--spot"
    elif "reservationName" in body:
        yield f"--reservation={body['reservationName']}"
    elif "guaranteed" in body:
        yield "--guaranteed"
    if "provisioningModel" in body:
        yield "--provisioning-model=flex-start"
        yield f"--max-run-duration={body['runDuration']['maxRunDuration']}"
