"""Compute Engine: GPUs, images, Spot, maintenance, machine types and zones; budgets.

Must not know other services.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from windlass.gcloudlint.command import Command, added
from windlass.gcloudlint.facts import DEEP_LEARNING, Facts
from windlass.gcloudlint.finding import Found, Rule, Severity

BILLING_ACCOUNT = Rule(
    id="billing-account-missing",
    severity=Severity.ERROR,
    summary="`billing budgets` needs `--billing-account`",
)
ACCELERATOR_MISMATCH = Rule(
    id="accelerator-mismatch",
    severity=Severity.ERROR,
    summary="`--accelerator` names other GPUs than the machine type comes with",
)
MACHINE_UNKNOWN = Rule(
    id="unknown-machine-type",
    severity=Severity.ERROR,
    summary="No accelerator machine type has this name",
)
LIVE_MIGRATION = Rule(
    id="gpu-live-migration",
    severity=Severity.ERROR,
    summary="A VM with GPUs cannot migrate: `--maintenance-policy=TERMINATE` is needed",
)
ZONE_UNKNOWN = Rule(
    id="unknown-zone", severity=Severity.ERROR, summary="Google Cloud has no such zone"
)
DRIVER_METADATA = Rule(
    id="driver-metadata-ignored",
    severity=Severity.WRONG,
    summary="`install-nvidia-driver` is read only by Deep Learning VM images",
)
ACCELERATOR_REDUNDANT = Rule(
    id="accelerator-redundant",
    severity=Severity.STALE,
    summary="A2, A3, A4, G2 and G4 machine types come with their GPUs",
)
IMAGE_MOVING = Rule(
    id="image-family-latest",
    severity=Severity.STALE,
    summary="`*-latest-*` image families gave way to versioned ones",
)
MAINTENANCE = Rule(
    id="maintenance-policy",
    severity=Severity.STALE,
    summary="`--maintenance-policy` where the command has `--on-host-maintenance`",
)
PREEMPTIBLE = Rule(
    id="preemptible",
    severity=Severity.STALE,
    summary="`--preemptible` is `--provisioning-model=SPOT`, and `--spot` for TPUs and GKE",
)
QUOTA_FORMAT = Rule(
    id="quota-format",
    severity=Severity.STALE,
    summary="`table(quotas.filter(...))` prints a Python list; flatten the quotas",
)
TERMINATION_ACTION = Rule(
    id="termination-action",
    severity=Severity.HINT,
    summary="A Spot VM without `--instance-termination-action` is stopped and its disks billed",
)
RULES = (
    BILLING_ACCOUNT, ACCELERATOR_MISMATCH, MACHINE_UNKNOWN, LIVE_MIGRATION, ZONE_UNKNOWN,
    DRIVER_METADATA, ACCELERATOR_REDUNDANT, IMAGE_MOVING, MAINTENANCE, PREEMPTIBLE, QUOTA_FORMAT,
    TERMINATION_ACTION,
)  # fmt: skip

CREATES = (
    "compute instances create",
    "compute instances bulk create",
    "compute instances create-with-container",
    "compute instance-templates create",
)
_DRIVER_IMAGES = (DEEP_LEARNING, "ml-images", "ubuntu-os-accelerator-images")
_ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z]")
_KEEPS_NO_MIGRATION = ("SPOT", "FLEX_START", "RESERVATION_BOUND")


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """Everything about VMs, and budgets."""
    if command.path in ("billing budgets list", "billing budgets create"):
        yield from _budgets(command)
    if command.path in CREATES:
        yield from _accelerator(command, facts)
        yield from _migration(command, facts)
        yield from _image(command, facts)
        yield from _spot(command)
        yield from _maintenance(command, facts)
    yield from _preemptible(command)
    yield from _places(command, facts)
    yield from _quota_format(command)


def _budgets(command: Command) -> Iterator[Found]:
    if not command.flag("--billing-account", "--flags-file"):
        message = f"`gcloud {command.path}` fails without --billing-account"
        if command.path.endswith("list"):
            message += "; it shows budgets, not costs"
        edit = added("--billing-account=BILLING_ACCOUNT_ID")
        yield Found(rule=BILLING_ACCOUNT, message=message, edits=(edit,))


def _accelerator(command: Command, facts: Facts) -> Iterator[Found]:
    flag, machine = command.flag("--accelerator"), command.literal("--machine-type")
    name, count = facts.accelerator_of(machine)
    if not flag or not name or flag.is_open:
        return
    asked = flag.pairs()
    is_same = asked.get("type", name) == name and asked.get("count", "1") == str(count)
    has_it = f"{machine} comes with {count} x {name}"
    if is_same:
        message = f"{has_it}: --accelerator says it again"
        yield Found(rule=ACCELERATOR_REDUNDANT, message=message, at=flag.at, edits=flag.drop())
    else:
        message = f"{has_it}, not with {flag.value}"
        yield Found(rule=ACCELERATOR_MISMATCH, message=message, at=flag.at, edits=flag.drop())


def _migration(command: Command, facts: Facts) -> Iterator[Found]:
    has_gpu = bool(facts.accelerator_of(command.literal("--machine-type"))[0])
    attached = command.flag("--accelerator")
    if not has_gpu and not attached:
        return
    policy = command.flag("--maintenance-policy", "--on-host-maintenance")
    if policy and policy.value.upper() == "MIGRATE":
        message = "a VM with GPUs cannot migrate to another host"
        edits = policy.become(policy.name, "TERMINATE")
        yield Found(rule=LIVE_MIGRATION, message=message, at=policy.at, edits=edits)
    is_bound = command.literal("--provisioning-model").upper() in _KEEPS_NO_MIGRATION
    if not policy and attached and not has_gpu and not is_bound and not _is_preemptible(command):
        message = "without --maintenance-policy=TERMINATE a VM with GPUs is refused"
        edit = added("--maintenance-policy=TERMINATE")
        yield Found(rule=LIVE_MIGRATION, message=message, at=attached.at, edits=(edit,))


def _is_preemptible(command: Command) -> bool:
    return command.flag("--preemptible") is not None


def _image(command: Command, facts: Facts) -> Iterator[Found]:
    metadata, family = command.flag("--metadata"), command.flag("--image-family")
    project = command.flag("--image-project")
    from_image = project and project.is_literal and project.value not in _DRIVER_IMAGES
    if metadata and from_image and "install-nvidia-driver" in metadata.value:
        assert project is not None
        message = f"images of {project.value} do not read install-nvidia-driver: no driver comes"
        edits = project.become("--image-project", DEEP_LEARNING)
        if family:
            edits += family.become("--image-family", facts.gpu_image)
        yield Found(rule=DRIVER_METADATA, message=message, at=metadata.at, edits=edits)
    if family and "-latest-" in family.value and not (project and from_image):
        message = (
            "Google lists versioned families now, for instance "
            f"{facts.gpu_image}, with driver and CUDA, to install the framework into"
        )
        edits = family.become("--image-family", facts.gpu_image)
        yield Found(rule=IMAGE_MOVING, message=message, at=family.at, edits=edits)


def _spot(command: Command) -> Iterator[Found]:
    model = command.flag("--provisioning-model")
    is_spot = _is_preemptible(command) or (model is not None and model.value.upper() == "SPOT")
    if is_spot and not command.flag("--instance-termination-action"):
        message = "when preempted it is stopped, and its disks go on costing; say STOP or DELETE"
        edit = added("--instance-termination-action=DELETE")
        yield Found(rule=TERMINATION_ACTION, message=message, edits=(edit,))


def _maintenance(command: Command, facts: Facts) -> Iterator[Found]:
    flag = command.flag("--maintenance-policy")
    if flag and "--on-host-maintenance" in facts.surface.flags(command.full_path):
        message = "the flag is called --on-host-maintenance here"
        edits = flag.become("--on-host-maintenance", flag.value)
        yield Found(rule=MAINTENANCE, message=message, at=flag.at, edits=edits)


def _preemptible(command: Command) -> Iterator[Found]:
    flag = command.flag("--preemptible")
    if flag is None:
        return
    if command.path in CREATES:
        edits = flag.become("--provisioning-model", "SPOT")
        message = "preemptible VMs end after 24 hours; Spot VMs are the same without that limit"
    elif command.path.startswith(("compute tpus tpu-vm ", "container ")):
        edits = flag.drop() if command.flag("--spot") else flag.become("--spot")
        message = "Spot has replaced preemptible"
    else:
        return
    yield Found(rule=PREEMPTIBLE, message=message, at=flag.at, edits=edits)


def _places(command: Command, facts: Facts) -> Iterator[Found]:
    """Zones and machine types of accelerators that do not exist."""
    zone = command.flag("--zone")
    if (
        zone
        and zone.is_literal
        and _ZONE.fullmatch(zone.value)
        and _is_unknown_zone(zone.value, facts)
    ):
        near = difflib.get_close_matches(zone.value, facts.catalog.zones, n=1)
        message = f"there is no zone {zone.value}" + (f"; {near[0]}, for instance" if near else "")
        yield Found(rule=ZONE_UNKNOWN, message=message, at=zone.at)
    flag = command.flag("--machine-type")
    if flag is None or not flag.is_literal or flag.value in facts.machines:
        return
    if flag.value.partition("-")[0] in facts.families:
        near = difflib.get_close_matches(flag.value, facts.machines, n=1, cutoff=0.7)
        message = f"there is no machine type {flag.value}" + (
            f"; {near[0]} is near" if near else ""
        )
        edits = flag.become("--machine-type", near[0]) if near else ()
        yield Found(rule=MACHINE_UNKNOWN, message=message, at=flag.at, edits=edits)


def _is_unknown_zone(zone: str, facts: Facts) -> bool:
    """Only where the catalog knows the region: it lists zones with something to rent."""
    region = zone.rpartition("-")[0]
    return zone not in facts.catalog.zones and any(
        known.startswith(f"{region}-") for known in facts.catalog.zones
    )


def _quota_format(command: Command) -> Iterator[Found]:
    flag = command.flag("--format")
    if command.path == "compute regions describe" and flag and "quotas.filter" in flag.value:
        message = "this prints a Python list; flatten the quotas, then filter the lines"
        edits = (
            *flag.become("--format", "csv(quotas.metric,quotas.limit,quotas.usage)"),
            added("--flatten=quotas"),
        )
        yield Found(rule=QUOTA_FORMAT, message=message, at=flag.at, edits=edits)
