"""Where Google's own clients and Google's own documents disagree, each with its reason.

Must not excuse the twin: what it does wrong is mended there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

KNOWN: dict[str, str] = {
    r"compute\.\w+\.\w+: unknown parameter returnPartialSuccess": (
        "gcloud sends it with every list; not every method's document has it."
    ),
    r"logging\.entries\.write: request \$: .*'dry_run'": (
        "google-cloud-logging names this field as protocol buffers do, which Google understands."
    ),
    r"storage\.objects\.compose: request .*generation: \d+ is not of type": (
        "google-cloud-storage sends the number itself, which Google understands."
    ),
}


def unexplained(found: Mapping[str, int]) -> Counter[str]:
    """Findings that nobody has a reason for."""
    patterns = [re.compile(text) for text in KNOWN]
    return Counter(
        {
            what: count
            for what, count in found.items()
            if not any(one.match(what) for one in patterns)
        }
    )
