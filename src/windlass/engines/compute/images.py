"""The image that a machine boots from: with the driver that its accelerator needs.

Must not invent one: the catalog lists those that are known to work. Pure.
"""

from __future__ import annotations

from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog

CPU_IMAGE = "projects/debian-cloud/global/images/family/debian-12"
DRIVER_ON_REQUEST = "projects/deeplearning-platform-release/"
"""Images of this project install the driver at boot when their metadata asks for it."""
GENERAL_GPU = f"{DRIVER_ON_REQUEST}global/images/family/common-cu129-ubuntu-2404-nvidia-580"
"""With a driver, for accelerators that no family of the catalog names."""


def image_for(catalog: Catalog, offer: Offer) -> str:
    """The image's path, as Compute Engine takes it. Single images of the catalog are not taken:
    Google deletes them in time, and what runs on Container-Optimized OS are containers."""
    if offer.chip is None:
        return CPU_IMAGE
    for image in catalog.images:
        is_for_it = offer.chip.name in image.chips and image.kind == "vm_image_family"
        if is_for_it and image.project and image.arch in ("x86_64", ""):
            return f"projects/{image.project}/global/images/family/{image.name}"
    return GENERAL_GPU
