"""What is stale wherever it stands: in prose, tables, comments, and code of other languages.

Must not look at whole commands (the other rules do).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Rule, Severity
from windlass.gcloudlint.rules.names import UNKNOWN_FLAG
from windlass.gcloudlint.rules.tpu import OLD_RUNTIME, RUNTIME_OLD, TYPE_NAME, old_runtime
from windlass.gcloudlint.rules.vertex import (
    IMAGE_NAME,
    OLD_IMAGE,
    TPU_MESSAGE,
    VERTEX_TPU,
    image_message,
)
from windlass.gcloudlint.sources import Kind, Passage

LEGACY_ROLE = Rule(
    id="legacy-role",
    severity=Severity.WRONG,
    summary="`roles/ml.*` are AI Platform's; Vertex AI's are `roles/aiplatform.*`",
)
QUOTA_METRIC = Rule(
    id="quota-metric",
    severity=Severity.WRONG,
    summary="No region has this metric: H100 and newer are counted in Cloud Quotas",
)
DRIVER_DAEMONSET = Rule(
    id="driver-daemonset",
    severity=Severity.STALE,
    summary="GKE 1.30.1 and newer install the GPU driver by themselves",
)
RULES = (LEGACY_ROLE, QUOTA_METRIC, DRIVER_DAEMONSET)

_ROLE = re.compile(r"\broles/ml\.(\w+)")
_METRIC = re.compile(r"(?<![A-Z_])NVIDIA_[A-Z0-9_]+?(?:_80GB)?_GPUS\b")
_DAEMONSET = re.compile(r"container-engine-accelerators/\S*daemonset\S*")
_CLOUD_TPU = re.compile(r"\bmachine_?[tT]ype[\"']?\s*[=:]\s*[\"']cloud-tpu[\"']")
_TYPE_COLUMN = re.compile(r"tpu type|accelerator.type", re.IGNORECASE)
_MARKETED = re.compile(r"`?(v5e-(\d+))`?")
_VERTEX = re.compile(r"vertex|custom.?job", re.IGNORECASE)

Mention = tuple[int, Rule, str]
"""Offset, rule, message."""


def mentions(text: str, facts: Facts) -> Iterator[Mention]:
    """Everything that one look at the text tells."""
    for found in _ROLE.finditer(text):
        role = {"admin": "admin", "viewer": "viewer"}.get(found[1], "user")
        yield (
            found.start(),
            LEGACY_ROLE,
            f"{found[0]} is AI Platform's; it is roles/aiplatform.{role}",
        )
    for found in _METRIC.finditer(text):
        metric = facts.metrics_without_region.get(found[0].replace("_80GB", ""))
        if metric:
            yield found.start(), QUOTA_METRIC, _quota(found[0], metric)
    for found in _DAEMONSET.finditer(text):
        message = "GKE 1.30.1 and newer install the driver; gpu-driver-version=latest chooses it"
        yield found.start(), DRIVER_DAEMONSET, message
    for found in OLD_RUNTIME.finditer(text):
        yield found.start(), RUNTIME_OLD, old_runtime(facts)
    for found in OLD_IMAGE.finditer(text):
        yield found.start(), IMAGE_NAME, image_message(found[1])
    for found in _CLOUD_TPU.finditer(text):
        yield found.start(), VERTEX_TPU, TPU_MESSAGE


def _quota(name: str, metric: str) -> str:
    where = "gcloud beta quotas info list --service=compute.googleapis.com"
    return f"no region has {name}; on demand it is {metric} in Cloud Quotas (`{where}`)"


def told_by_context(passages: list[Passage]) -> Iterator[tuple[int, Rule, str]]:
    """What only the place tells: columns of tables, flags named under a heading. By line."""
    column = -1
    for passage in passages:
        if passage.kind is Kind.PROSE:
            cells = [cell.strip() for cell in passage.text.split("|")]
            if len(cells) < 3:
                column = -1
                continue
            titled = [index for index, cell in enumerate(cells) if _TYPE_COLUMN.fullmatch(cell)]
            column = titled[0] if titled else column
            found = _MARKETED.fullmatch(cells[column]) if 0 <= column < len(cells) else None
            if found:
                yield passage.line, TYPE_NAME, f"Cloud TPU knows {found[1]} as v5litepod-{found[2]}"
        elif passage.kind is Kind.INLINE and passage.text.split("=")[0] == "--timeout":
            if _VERTEX.search(passage.heading):
                message = (
                    "`gcloud ai custom-jobs create` has no --timeout: put "
                    "`scheduling: {timeout: 7200s}` into the file of --config"
                )
                yield passage.line, UNKNOWN_FLAG, message
