"""A request in other words: as the call that it comes to, and as a command of gcloud.

Must not send anything, nor read anything but the request.
"""

from __future__ import annotations

import json

from windlass.engines import shell
from windlass.engines.rendering import Call
from windlass.engines.vertex.request import VertexRequest
from windlass.google.vertex import collection_url

CONFIG = "training_config"


def calls(request: VertexRequest, *, project: str) -> list[Call]:
    """What `submit` sends."""
    url = collection_url(project, request.region)
    return [Call(method="POST", url=url, body=request.body)]


def gcloud_script(request: VertexRequest, *, project: str) -> str:
    """The same with gcloud, which reads what is asked for from a file."""
    body = request.body
    config = json.dumps(body["jobSpec"], indent=2)
    flags = [
        f"--project={project}",
        f"--region={request.region}",
        f"--display-name={body['displayName']}",
        f"--labels={shell.pairs(body['labels'])}",
        f"--config=${CONFIG}",
    ]
    if "encryptionSpec" in body:
        flags.append(f"--kms-key={body['encryptionSpec']['kmsKeyName']}")
    command = shell.command("gcloud", "ai", "custom-jobs", "create", flags=flags)
    return "\n".join([shell.HEADER, shell.file(CONFIG, config), command])
