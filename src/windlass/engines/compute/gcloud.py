"""A request as commands of gcloud that make the same.

Must not run them, nor read anything but the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.engines import shell
from windlass.engines.compute.inserts import BULK, GROUPS, POLICIES, TEMPLATES, Insert
from windlass.engines.compute.request import ComputeRequest

SCRIPT = "startup_script"
NAMES = """\
# gcloud cannot name the machines that a resize request makes, as the request of Windlass does
# ({names}): machines made by this command do not find out which node they are.
"""
AFFINITIES = {"SPECIFIC_RESERVATION": "specific", "NO_RESERVATION": "none"}
SHIELDS = {
    "enableSecureBoot": "shielded-secure-boot",
    "enableVtpm": "shielded-vtpm",
    "enableIntegrityMonitoring": "shielded-integrity-monitoring",
}


def gcloud_script(request: ComputeRequest, *, project: str) -> str:
    """The script. A later gcloud takes FLEX_START without `alpha`."""
    parts = [shell.HEADER]
    for insert in request.inserts:
        kind, _, name = insert.scope.partition("/")
        place = [f"--project={project}", f"--{kind.rstrip('s')}={name}"]
        parts += _commands(insert, place)
    return "\n".join(parts)


def _commands(insert: Insert, place: list[str]) -> list[str]:
    body = insert.body
    if insert.collection == POLICIES:
        return [_policy(body, place)]
    if insert.collection == BULK:
        return _bulk(body, place)
    if insert.collection == TEMPLATES:
        return _template(body, place)
    if insert.collection == GROUPS:
        return [_group(body, place)]
    return [_resize(insert, place)]


def _policy(body: Mapping[str, Any], place: list[str]) -> str:
    described = [*place, f"--description={body['description']}"]
    words = ("gcloud", "compute", "resource-policies", "create")
    if "workloadPolicy" in body:
        return shell.command(
            *words, "workload-policy", body["name"], flags=[*described, "--type=high-throughput"]
        )
    return shell.command(
        *words, "group-placement", body["name"], flags=[*described, "--collocation=collocated"]
    )


def _bulk(body: Mapping[str, Any], place: list[str]) -> list[str]:
    names = list(body["perInstanceProperties"])
    properties = body["instanceProperties"]
    flags = [
        *place,
        f"--predefined-names={','.join(names)}",
        f"--min-count={body['minCount']}",
        f"--description={properties['description']}",
        *_machine(properties),
    ]
    disk = properties["disks"][0]["initializeParams"]
    labels = [*place, f"--labels={shell.pairs(disk['labels'])}"]
    return [
        shell.file(SCRIPT, _script(properties)),
        shell.command("gcloud", "compute", "instances", "bulk", "create", flags=flags),
        *(
            shell.command("gcloud", "compute", "disks", "add-labels", name, flags=labels)
            for name in names
        ),
    ]


def _template(body: Mapping[str, Any], place: list[str]) -> list[str]:
    """Its description is the template's own: gcloud has no flag for that of its machines, nor for
    labels of their disks."""
    project, region = place
    properties = body["properties"]
    # Only this track knows the provisioning model.
    words = ("gcloud", "alpha", "compute", "instance-templates", "create", body["name"])
    has_subnetwork = any("subnetwork" in nic for nic in properties["networkInterfaces"])
    flags = [
        project,
        region.replace("--region", "--instance-template-region"),
        *([region] if has_subnetwork else []),
        f"--description={body['description']}",
        *_machine(properties),
    ]
    return [shell.file(SCRIPT, _script(properties)), shell.command(*words, flags=flags)]


def _group(body: Mapping[str, Any], place: list[str]) -> str:
    project = place[0].partition("=")[2]
    flags = [
        *place,
        f"--description={body['description']}",
        f"--base-instance-name={body['baseInstanceName']}",
        f"--template=projects/{project}/{body['instanceTemplate']}",
        f"--size={body['targetSize']}",
        "--default-action-on-vm-failure=do-nothing",
    ]
    policy = (body.get("resourcePolicies") or {}).get("workloadPolicy")
    if policy:
        flags.append(f"--workload-policy=projects/{project}/{policy}")
    words = ("gcloud", "compute", "instance-groups", "managed", "create", body["name"])
    return shell.command(*words, flags=flags)


def _resize(insert: Insert, place: list[str]) -> str:
    body = insert.body
    names = [one["name"] for one in body["instances"]]
    words = ("gcloud", "compute", "instance-groups", "managed", "resize-requests", "create")
    flags = [
        *place,
        f"--resize-request={body['name']}",
        f"--resize-by={len(names)}",
        f"--requested-run-duration={body['requestedRunDuration']['seconds']}s",
    ]
    group = insert.collection.split("/")[1]
    shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    return NAMES.format(names=shown) + shell.command(*words, group, flags=flags)


def _machine(properties: Mapping[str, Any]) -> Iterator[str]:
    """The flags for what all machines have in common."""
    metadata = {one["key"]: one["value"] for one in properties["metadata"]["items"]}
    del metadata["startup-script"]
    yield f"--machine-type={properties['machineType']}"
    yield f"--labels={shell.pairs(properties['labels'])}"
    yield f"--metadata={shell.pairs(metadata)}"
    yield f"--metadata-from-file=startup-script=${SCRIPT}"
    for accelerator in properties.get("guestAccelerators", ()):
        kind, count = accelerator["acceleratorType"], accelerator["acceleratorCount"]
        yield f"--accelerator=type={kind},count={count}"
    yield from _disks(properties["disks"])
    for nic in properties["networkInterfaces"]:
        yield f"--network-interface={_nic(nic)}"
    yield from _scheduling(properties["scheduling"])
    yield from _reservation(properties.get("reservationAffinity") or {})
    for policy in properties.get("resourcePolicies", ()):
        yield f"--resource-policies={policy}"
    (account,) = properties["serviceAccounts"]
    if account["email"] != "default":
        yield f"--service-account={account['email']}"
    yield f"--scopes={','.join(account['scopes'])}"
    for name, flag in SHIELDS.items():
        is_on = properties["shieldedInstanceConfig"][name]
        yield f"--{'' if is_on else 'no-'}{flag}"


def _disks(disks: list[Mapping[str, Any]]) -> Iterator[str]:
    boot, *scratch = disks
    wanted = boot["initializeParams"]
    project, _, name = wanted["sourceImage"].removeprefix("projects/").partition("/global/images/")
    family = name.removeprefix("family/")
    yield f"--image-project={project}"
    yield f"--image-family={family}" if name != family else f"--image={name}"
    yield f"--boot-disk-size={wanted['diskSizeGb']}GB"
    yield f"--boot-disk-type={wanted['diskType']}"
    if "diskEncryptionKey" in boot:
        yield f"--boot-disk-kms-key={boot['diskEncryptionKey']['kmsKeyName']}"
    for disk in scratch:
        yield f"--local-ssd=interface={disk['interface']}"


def _nic(nic: Mapping[str, Any]) -> str:
    words = [f"network={nic['network'].removeprefix('global/networks/')}"]
    if "subnetwork" in nic:
        subnetwork = nic["subnetwork"]
        is_short = subnetwork.startswith("regions/")
        words.append(f"subnet={subnetwork.rpartition('/')[2] if is_short else subnetwork}")
    words.append(f"nic-type={nic['nicType']}")
    return ",".join(words if "accessConfigs" in nic else [*words, "no-address"])


def _scheduling(scheduling: Mapping[str, Any]) -> Iterator[str]:
    yield f"--provisioning-model={scheduling['provisioningModel']}"
    yield f"--instance-termination-action={scheduling['instanceTerminationAction']}"
    yield f"--max-run-duration={scheduling['maxRunDuration']['seconds']}s"
    yield "--no-restart-on-failure"
    yield f"--on-host-maintenance={scheduling['onHostMaintenance']}"


def _reservation(affinity: Mapping[str, Any]) -> Iterator[str]:
    if affinity:
        yield f"--reservation-affinity={AFFINITIES[affinity['consumeReservationType']]}"
        yield from (f"--reservation={name}" for name in affinity.get("values", ()))


def _script(properties: Mapping[str, Any]) -> str:
    for item in properties["metadata"]["items"]:
        if item["key"] == "startup-script":
            return str(item["value"])
    return ""
