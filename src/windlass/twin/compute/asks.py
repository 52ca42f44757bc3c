"""What an ask for an instance comes to: its body, checked, and the machine that it wants.

Must not start anything, nor look for room.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.compute.links import last, normalised, parts
from windlass.twin.compute.scopes import Scope, invalid
from windlass.twin.market import Model, Wanted

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.compute.images import Images

NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
LABEL_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
LABEL_VALUE = re.compile(r"[-_a-z0-9]{0,63}")
UNLISTED = re.compile(
    r"e2-(?:micro|small|medium)|f1-micro|g1-small|n1-(?:standard|highmem|highcpu)-\d{1,2}|(?:[a-z0-9]+-)?custom-\d+-\d+(?:-ext)?"
    r"|(?:c3d?|c4d?a?|n4d?|m[1-4]|t2[ad]|h[34]|x4|z3)-[a-z0-9-]+"
)
"""Types that exist and that the catalog, which is about accelerators, does not list."""
LONGEST_FLEX_S = 7 * 86_400.0
MOST_METADATA = 512 * 1024
MOST_VALUE = 256 * 1024


Check = Callable[[dict[str, Any], Scope], None]
"""Raises a Refusal for properties of an instance, in a zone, that Google would not take."""


class Ask(NamedTuple):
    """A checked ask."""

    properties: dict[str, Any]
    wanted: Wanted
    run_s: float | None
    """How long it may run."""


class Asks:
    """Checks asks against the catalog."""

    def __init__(self, catalog: Catalog, *, images: Images) -> None:
        self._images = images
        self.checks: list[Check] = []
        """What else refuses an ask: what it names may not be there."""
        self._gpus: dict[str, tuple[str, int]] = {}
        self._attachable: set[str] = set()
        self._machines: set[str] = set()
        chips = catalog.chips
        for machine in catalog.machines.values():
            self._machines.add(machine.name)
            if machine.chip is None:
                continue
            if machine.family == "n1":
                self._attachable.add(machine.name)
            elif not chips[machine.chip].is_tpu:
                self._gpus[machine.name] = (chips[machine.chip].google_name, machine.chips)

    def checked(self, body: dict[str, Any], scope: Scope) -> Ask:
        """The ask, or a refusal that names the field."""
        properties: dict[str, Any] = normalised(body, project=scope.project, zone=scope.place)
        wanted = self.wanted(properties, scope)
        check_labels(properties.get("labels") or {})
        self._check_metadata(properties)
        for disk in properties.get("disks", []):
            image = disk.get("initializeParams", {}).get("sourceImage")
            if image:
                self._images.check(image, project=scope.project)
        scheduling = properties.get("scheduling") or {}
        if wanted.chips and scheduling.get("onHostMaintenance") == "MIGRATE":
            raise invalid(
                "scheduling.onHostMaintenance",
                "MIGRATE",
                "Instances with guest accelerators do not support live migration.",
            )
        for check in self.checks:
            check(properties, scope)
        run_s = run_seconds(scheduling)
        if run_s is None and wanted.model is Model.FLEX_START:
            run_s = LONGEST_FLEX_S
        return Ask(properties, wanted, run_s)

    def wanted(self, properties: dict[str, Any], scope: Scope) -> Wanted:
        """The machine for an instance; its GPUs are put into the properties."""
        machine_type = self._machine_type(properties, scope)
        chip, chips = self._accelerators(properties, machine_type, scope)
        model = _model(properties.get("scheduling") or {})
        return Wanted(scope.place, machine_type, chip, chips, model)

    def _machine_type(self, properties: dict[str, Any], scope: Scope) -> str:
        url = properties.get("machineType", "")
        if not url:
            raise invalid("machineType", "", "A machine type must be specified.")
        name = last(url)
        zone = parts(url).get("zones", scope.place)
        if zone != scope.place:
            why = f"The machine type is in zone {zone}, the instance in {scope.place}."
            raise invalid("machineType", url, why)
        if name not in self._machines and not UNLISTED.fullmatch(name):
            raise invalid("machineType", url, "The referenced resource does not exist.")
        return name

    def _accelerators(
        self, properties: dict[str, Any], machine_type: str, scope: Scope
    ) -> tuple[str, int]:
        """The GPUs: those that the type has, or those attached to an N1."""
        own = self._gpus.get(machine_type)
        given = properties.get("guestAccelerators") or []
        if own is not None:
            if given and last(given[0].get("acceleratorType", "")) != own[0]:
                kind = last(given[0].get("acceleratorType", ""))
                why = f"[{machine_type}] machine types have [{own[0]}] accelerators only."
                raise invalid("guestAccelerators[0].acceleratorType", kind, why)
            url = scope.link("acceleratorTypes", own[0])
            properties["guestAccelerators"] = [{"acceleratorType": url, "acceleratorCount": own[1]}]
            return own
        if not given:
            return "", 0
        if not machine_type.startswith("n1-"):
            why = f"Accelerators cannot be attached to machine type {machine_type}."
            raise invalid("guestAccelerators", last(given[0].get("acceleratorType", "")), why)
        return last(given[0]["acceleratorType"]), int(given[0].get("acceleratorCount", 1))

    def _check_metadata(self, properties: dict[str, Any]) -> None:
        items = (properties.get("metadata") or {}).get("items", [])
        sizes = [len(item.get("value", "").encode()) for item in items]
        if any(size > MOST_VALUE for size in sizes) or sum(sizes) > MOST_METADATA:
            raise invalid("metadata", "", "Value too large.")


def check_name(name: str) -> None:
    """Google's rule for names of Compute Engine's resources."""
    if not NAME.fullmatch(name):
        pattern = "'(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'"
        why = f"Must be a match of regex {pattern}"
        raise invalid("name", name, why)


def check_labels(labels: dict[str, str]) -> None:
    """Google's rule for labels."""
    for key, value in labels.items():
        if not LABEL_KEY.fullmatch(key):
            raise invalid("labels", key, "Label key is not valid.")
        if not LABEL_VALUE.fullmatch(value):
            raise invalid("labels", value, f"Label value of '{key}' is not valid.")


def _model(scheduling: dict[str, Any]) -> Model:
    if scheduling.get("preemptible"):
        return Model.SPOT
    return Model(scheduling.get("provisioningModel", "STANDARD"))


def run_seconds(scheduling: dict[str, Any]) -> float | None:
    """How long an instance may run; None for as long as it likes."""
    duration = scheduling.get("maxRunDuration")
    if not duration:
        return None
    return float(duration.get("seconds", 0)) + float(duration.get("nanos", 0)) / 1e9
