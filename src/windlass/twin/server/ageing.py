"""Lets objects in buckets grow old: lifecycle rules are applied every hour of the twin's time.

Must not know the rules: Cloud Storage has them.
"""

from __future__ import annotations

from windlass.twin.cloud import Cloud
from windlass.twin.storage.service import Storage

HOUR = 3600.0
KIND = "storage.sweep"


def let_objects_age(cloud: Cloud, storage: Storage) -> None:
    """Look through the buckets every hour from now on; across restarts too, but only once."""
    begun = cloud.documents(KIND)

    def sweep(key: str) -> None:
        storage.sweep(cloud.clock.now())
        cloud.later(HOUR, KIND, key)

    cloud.on(KIND, sweep)
    if "begun" not in begun:
        begun.put("begun", {})
        cloud.later(HOUR, KIND, "all")
