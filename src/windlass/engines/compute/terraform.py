"""A request as resources of Terraform's google provider.

Must not run Terraform, nor read anything but the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from windlass.engines.compute.inserts import BULK, GROUPS, POLICIES, TEMPLATES, Insert
from windlass.engines.compute.request import ComputeRequest
from windlass.engines.hcl import Block, Expression, text_of

NAME = "run"
"""What each resource is called inside the file."""
POLICY = "google_compute_resource_policy"
TEMPLATE = "google_compute_region_instance_template"
GROUP = "google_compute_instance_group_manager"


def terraform_text(request: ComputeRequest, *, project: str) -> str:
    """The file. It makes the same as the request but for the machines of a resize request, which
    the provider cannot name."""
    has_policy = any(insert.collection == POLICIES for insert in request.inserts)
    makers: dict[str, Callable[[Insert], Block]] = {
        POLICIES: lambda insert: _policy(insert, project),
        BULK: lambda insert: _machines(insert, project, has_policy=has_policy),
        TEMPLATES: lambda insert: _template(insert, project),
        GROUPS: lambda insert: _group(insert, project, has_policy=has_policy),
    }
    resize = makers.setdefault("", lambda insert: _resize(insert, project))
    return text_of([makers.get(insert.collection, resize)(insert) for insert in request.inserts])


def _policy(insert: Insert, project: str) -> Block:
    body = insert.body
    if "workloadPolicy" in body:
        rule = Block(type="workload_policy", arguments={"type": body["workloadPolicy"]["type"]})
    else:
        collocation = body["groupPlacementPolicy"]["collocation"]
        rule = Block(type="group_placement_policy", arguments={"collocation": collocation})
    arguments = {
        "project": project,
        "region": _place(insert),
        "name": body["name"],
        "description": body["description"],
    }
    return _resource(POLICY, arguments, [rule])


def _machines(insert: Insert, project: str, *, has_policy: bool) -> Block:
    properties = insert.body["instanceProperties"]
    arguments = {
        "for_each": Expression(f"toset({_list(insert.body['perInstanceProperties'])})"),
        "project": project,
        "zone": _place(insert),
        "name": Expression("each.key"),
        **_common(properties),
    }
    if has_policy:
        arguments["resource_policies"] = [Expression(f"{POLICY}.{NAME}.self_link")]
    elif "resourcePolicies" in properties:
        arguments["resource_policies"] = properties["resourcePolicies"]
    boot, *scratch = properties["disks"]
    wanted = boot["initializeParams"]
    initialize = Block(
        type="initialize_params",
        arguments={
            "image": wanted["sourceImage"],
            "size": int(wanted["diskSizeGb"]),
            "type": wanted["diskType"],
            "labels": wanted["labels"],
        },
    )
    key = boot.get("diskEncryptionKey")
    disk = Block(
        type="boot_disk",
        arguments={
            "auto_delete": True,
            **({"kms_key_self_link": key["kmsKeyName"]} if key else {}),
        },
        blocks=[initialize],
    )
    ssds = [
        Block(type="scratch_disk", arguments={"interface": one["interface"]}) for one in scratch
    ]
    return _resource("google_compute_instance", arguments, [disk, *ssds, *_blocks(properties)])


def _template(insert: Insert, project: str) -> Block:
    properties = insert.body["properties"]
    arguments = {
        "project": project,
        "region": _place(insert),
        "name": insert.body["name"],
        "description": insert.body["description"],
        "instance_description": properties["description"],
        **{name: one for name, one in _common(properties).items() if name != "description"},
    }
    return _resource(
        TEMPLATE, arguments, [*map(_template_disk, properties["disks"]), *_blocks(properties)]
    )


def _template_disk(disk: Mapping[str, Any]) -> Block:
    wanted = disk["initializeParams"]
    if not disk.get("boot"):
        scratch = {
            "auto_delete": True,
            "type": disk["type"],
            "disk_type": wanted["diskType"],
            "interface": disk["interface"],
        }
        return Block(type="disk", arguments=scratch)
    key = disk.get("diskEncryptionKey")
    return Block(
        type="disk",
        arguments={
            "boot": True,
            "auto_delete": True,
            "source_image": wanted["sourceImage"],
            "disk_size_gb": int(wanted["diskSizeGb"]),
            "disk_type": wanted["diskType"],
            "labels": wanted["labels"],
        },
        blocks=[
            Block(type="disk_encryption_key", arguments={"kms_key_self_link": key["kmsKeyName"]})
        ]
        if key
        else [],
    )


def _group(insert: Insert, project: str, *, has_policy: bool) -> Block:
    body = insert.body
    blocks = [
        Block(
            type="version",
            arguments={"instance_template": Expression(f"{TEMPLATE}.{NAME}.self_link")},
        ),
        Block(
            type="instance_lifecycle_policy",
            arguments={
                "default_action_on_failure": body["instanceLifecyclePolicy"][
                    "defaultActionOnFailure"
                ]
            },
        ),
    ]
    given = (body.get("resourcePolicies") or {}).get("workloadPolicy")
    if given:
        policy = Expression(f"{POLICY}.{NAME}.self_link") if has_policy else given
        blocks.append(Block(type="resource_policies", arguments={"workload_policy": policy}))
    arguments = {
        "project": project,
        "zone": _place(insert),
        "name": body["name"],
        "description": body["description"],
        "base_instance_name": body["baseInstanceName"],
        "target_size": body["targetSize"],
    }
    return _resource(GROUP, arguments, blocks)


def _resize(insert: Insert, project: str) -> Block:
    body = insert.body
    seconds = Block(
        type="requested_run_duration",
        arguments={"seconds": body["requestedRunDuration"]["seconds"]},
    )
    arguments = {
        "project": project,
        "zone": _place(insert),
        "name": body["name"],
        "description": body["description"],
        "instance_group_manager": Expression(f"{GROUP}.{NAME}.name"),
        "resize_by": len(body["instances"]),
    }
    return _resource("google_compute_resize_request", arguments, [seconds])


def _common(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that instances and templates share."""
    return {
        "machine_type": properties["machineType"],
        "description": properties["description"],
        "labels": properties["labels"],
        "metadata": {one["key"]: one["value"] for one in properties["metadata"]["items"]},
    }


def _blocks(properties: Mapping[str, Any]) -> list[Block]:
    """Blocks that instances and templates share."""
    blocks = [
        Block(
            type="guest_accelerator",
            arguments={"type": one["acceleratorType"], "count": one["acceleratorCount"]},
        )
        for one in properties.get("guestAccelerators", ())
    ]
    blocks += [_nic(nic) for nic in properties["networkInterfaces"]]
    blocks.append(_scheduling(properties["scheduling"]))
    (account,) = properties["serviceAccounts"]
    named = {} if account["email"] == "default" else {"email": account["email"]}
    blocks.append(Block(type="service_account", arguments={**named, "scopes": account["scopes"]}))
    shielded = properties["shieldedInstanceConfig"]
    blocks.append(
        Block(
            type="shielded_instance_config",
            arguments={
                "enable_secure_boot": shielded["enableSecureBoot"],
                "enable_vtpm": shielded["enableVtpm"],
                "enable_integrity_monitoring": shielded["enableIntegrityMonitoring"],
            },
        )
    )
    affinity = properties.get("reservationAffinity")
    return [*blocks, _reservation(affinity)] if affinity else blocks


def _nic(nic: Mapping[str, Any]) -> Block:
    names = {"network": "network", "subnetwork": "subnetwork", "nicType": "nic_type"}
    arguments = {ours: nic[theirs] for theirs, ours in names.items() if theirs in nic}
    external = [Block(type="access_config") for _ in nic.get("accessConfigs", ())]
    return Block(type="network_interface", arguments=arguments, blocks=external)


def _scheduling(scheduling: Mapping[str, Any]) -> Block:
    model = scheduling["provisioningModel"]
    seconds = int(scheduling["maxRunDuration"]["seconds"])
    return Block(
        type="scheduling",
        arguments={
            "provisioning_model": model,
            "preemptible": model == "SPOT",
            "instance_termination_action": scheduling["instanceTerminationAction"],
            "automatic_restart": scheduling["automaticRestart"],
            "on_host_maintenance": scheduling["onHostMaintenance"],
        },
        blocks=[Block(type="max_run_duration", arguments={"seconds": seconds})],
    )


def _reservation(affinity: Mapping[str, Any]) -> Block:
    named = {"key": affinity.get("key"), "values": affinity.get("values")}
    blocks = [Block(type="specific_reservation", arguments=named)] if "key" in affinity else []
    return Block(
        type="reservation_affinity",
        arguments={"type": affinity["consumeReservationType"]},
        blocks=blocks,
    )


def _resource(kind: str, arguments: Mapping[str, Any], blocks: list[Block]) -> Block:
    return Block(type="resource", labels=(kind, NAME), arguments=arguments, blocks=blocks)


def _place(insert: Insert) -> str:
    return insert.scope.partition("/")[2]


def _list(names: Mapping[str, Any]) -> str:
    return json.dumps(list(names))
