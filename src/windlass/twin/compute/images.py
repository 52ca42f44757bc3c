"""Images to boot from: the public ones that people name, and the project's own.

Must not hold any: machines of a twin share one root, whatever their image says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.listing import listed
from windlass.twin.compute.scopes import Scope, not_found

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud

FAMILIES: dict[str, tuple[str, ...]] = {
    "debian-cloud": ("debian-11", "debian-12", "debian-12-arm64", "debian-13", "debian-13-arm64"),
    "ubuntu-os-cloud": (
        "ubuntu-2204-lts",
        "ubuntu-2204-lts-arm64",
        "ubuntu-2404-lts-amd64",
        "ubuntu-2404-lts-arm64",
        "ubuntu-minimal-2204-lts",
        "ubuntu-minimal-2404-lts-amd64",
    ),
    "rocky-linux-cloud": ("rocky-linux-8", "rocky-linux-9", "rocky-linux-9-optimized-gcp"),
    "cos-cloud": ("cos-stable", "cos-beta", "cos-113-lts", "cos-117-lts", "cos-121-lts"),
    "deeplearning-platform-release": (
        "pytorch-latest-gpu",
        "pytorch-latest-cpu",
        "pytorch-2-7-cu128-ubuntu-2204-nvidia-570",
        "pytorch-2-9-cu129-ubuntu-2404-nvidia-580",
        "common-cpu",
        "common-cu128-ubuntu-2204-nvidia-570",
        "common-cu129-ubuntu-2404-nvidia-580",
        "tf-latest-gpu",
        "tf-latest-cpu",
    ),
    "ubuntu-os-accelerator-images": (),
    "rocky-linux-accelerator-cloud": (),
}
"""Beside those of the catalog. Families come and go: a name that is missing here may well exist."""
CREATED = "2026-09-01T00:00:00.000-07:00"


class Images:
    """Families and images by project."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog) -> None:
        self._cloud = cloud
        self._own = cloud.documents("compute.images")
        self._families = {project: set(names) for project, names in FAMILIES.items()}
        for image in catalog.images:
            if image.kind == "vm_image_family" and image.project:
                self._families.setdefault(image.project, set()).add(image.name)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return locked(
            {
                "compute.images.get": self.get,
                "compute.images.getFromFamily": self.get_from_family,
                "compute.images.list": self.list_all,
                "compute.imageFamilyViews.get": self.family_view,
            }
        )

    def check(self, url: str, *, project: str) -> None:
        """Refuse an image that does not exist."""
        named = parts(url.replace("/images/family/", "/imageFamilies/"))
        owner = named.get("projects", project)
        family = named.get("imageFamilyViews") or named.get("imageFamilies")
        name = named.get("images", "")
        scope = Scope(owner, "global")
        if family is not None:
            if family not in self._families.get(owner, ()):
                raise not_found(scope, "images/family", family)
        elif scope.key(name) not in self._own and not self._is_public(owner, name):
            raise not_found(scope, "images", name)

    def get(self, call: Call) -> dict[str, Any]:
        """An image by name."""
        scope = Scope(call.project, "global")
        name = call.params["image"]
        own = self._own.get(scope.key(name))
        if own is not None:
            return own
        if not self._is_public(call.project, name):
            raise not_found(scope, "images", name)
        return self._image(call.project, name.removesuffix(VERSION), name)

    def get_from_family(self, call: Call) -> dict[str, Any]:
        """The newest image of a family."""
        family = last(call.params["family"])
        if family not in self._families.get(call.project, ()):
            raise not_found(Scope(call.project, "global"), "images/family", family)
        return self._image(call.project, family, family + VERSION)

    def family_view(self, call: Call) -> dict[str, Any]:
        """The newest image of a family, as a zone sees it."""
        return {"image": self.get_from_family(call)}

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of one project."""
        families = sorted(self._families.get(call.project, ()))
        public = [
            (family, self._image(call.project, family, family + VERSION)) for family in families
        ]
        own = list(self._own.under(Scope(call.project, "global").key("")))
        return listed(call, "image", [*public, *own])

    def _is_public(self, project: str, name: str) -> bool:
        families = self._families.get(project)
        if families is None:
            return False
        # Names are families with a date behind; which dates there are is not modelled.
        return any(name.startswith(family) for family in families)

    def _image(self, project: str, family: str, name: str) -> dict[str, Any]:
        scope = Scope(project, "global")
        return {
            "kind": "compute#image",
            "id": str(int.from_bytes(name.encode()[-7:], "big") + 10**17),
            "name": name,
            "family": family,
            "creationTimestamp": CREATED,
            "sourceType": "RAW",
            "status": "READY",
            "architecture": "ARM64" if "arm64" in name else "X86_64",
            "diskSizeGb": "50" if "deeplearning" in project else "10",
            "archiveSizeBytes": "1073741824",
            "selfLink": scope.link("images", name),
            "labelFingerprint": "42WmSpB8rSM=",
        }


VERSION = "-v20260901"
