"""The image that a machine boots from: with the driver that its accelerator needs.

Must not invent one: the catalog lists those that are known to work. Pure.
"""

from __future__ import annotations

from windlass.catalog.model import Offer
from windlass.catalog.prices import Image
from windlass.catalog.query import Catalog

CPU_IMAGE = "projects/debian-cloud/global/images/family/debian-12"
GENERAL_GPU = (
    "projects/deeplearning-platform-release/global/images/family/"
    "common-cu129-ubuntu-2404-nvidia-580"
)
"""With a driver, for accelerators that no image of the catalog names."""
FAMILY = "vm_image_family"
SINGLE = "vm_image"
DRIVER_ON_REQUEST = "projects/deeplearning-platform-release/"
"""Images of this project install the driver at boot when their metadata asks for it."""


def image_for(catalog: Catalog, offer: Offer) -> str:
    """The image's path, as Compute Engine takes it: the newest of a family, else a single one."""
    if offer.chip is None:
        return CPU_IMAGE
    fitting = [
        image
        for image in catalog.images
        if offer.chip.name in image.chips
        and image.project
        # Its own programs cannot be run on Container-Optimized OS, nor can ours.
        and image.os != "cos"
        and image.arch in ("x86_64", "")
    ]
    for kind in (FAMILY, SINGLE):
        for image in fitting:
            if image.kind == kind:
                return _path(image)
    return GENERAL_GPU


def _path(image: Image) -> str:
    family = "family/" if image.kind == FAMILY else ""
    return f"projects/{image.project}/global/images/{family}{image.name}"
