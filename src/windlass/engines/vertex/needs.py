"""What this engine needs of a project.

Must not ask anything of Google.
"""

from __future__ import annotations

from windlass.engines.needs import ACCOUNTS, BUCKETS, STORAGE_API, Needs
from windlass.engines.vertex.sold import unsold

USER = "roles/aiplatform.user"

NEEDS = Needs(
    apis=("aiplatform.googleapis.com", "logging.googleapis.com", STORAGE_API),
    permissions={
        "aiplatform.customJobs.cancel": USER,
        "aiplatform.customJobs.create": USER,
        "aiplatform.customJobs.get": USER,
        "aiplatform.customJobs.list": USER,
        "logging.logEntries.list": "roles/logging.viewer",
        **ACCOUNTS,
        **BUCKETS,
    },
    usual_account="service-{number}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com",
    # Machines are Google's own, in a network of its own.
    is_networked=False,
    unsold=unsold,
)
