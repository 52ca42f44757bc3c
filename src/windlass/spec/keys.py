"""Every key a spec may hold, section by section, and what people write instead of them.

Must not hold anything but names: their meaning is in sections.py, their description in schema.py.
"""

from __future__ import annotations

SPEC = (
    "name",
    "kind",
    "run",
    "launch",
    "workdir",
    "setup",
    "image",
    "env",
    "secrets",
    "resources",
    "where",
    "engine",
    "work",
    "limits",
    "checkpoint",
    "data",
    "labels",
)
RESOURCES = ("accelerators", "nodes", "cpus", "memory", "disk", "machine")
WHERE = ("engines", "regions", "buy", "race")
WORK = ("steps", "params", "tokens", "reference")
REFERENCE = ("accelerators", "nodes", "step_seconds")
LIMITS = ("deadline", "budget", "restarts", "ttl")
CHECKPOINT = ("to", "every", "keep")

CONFIG = (
    "engines",
    "store",
    "project",
    "impersonate",
    "run_folder",
    "engine",
    "policy",
    "owner",
)

# Which section each key of a section belongs to, for one that stands in the wrong place.
HOME = {
    **{key: f"resources.{key}" for key in RESOURCES},
    **{key: f"where.{key}" for key in WHERE},
    **{key: f"work.{key}" for key in WORK},
    **{key: f"limits.{key}" for key in LIMITS},
    "every": "checkpoint.every",
    "keep": "checkpoint.keep",
}

# What other tools call it.
SYNONYMS = {
    "command": "run",
    "cmd": "run",
    "script": "run",
    "entrypoint": "run",
    "framework": "launch",
    "launcher": "launch",
    "container": "image",
    "docker": "image",
    "working_dir": "workdir",
    "envs": "env",
    "environment": "env",
    "gpu": "resources.accelerators",
    "gpus": "resources.accelerators",
    "tpu": "resources.accelerators",
    "tpus": "resources.accelerators",
    "accelerator": "resources.accelerators",
    "num_nodes": "resources.nodes",
    "replicas": "resources.nodes",
    "cpu": "resources.cpus",
    "ram": "resources.memory",
    "disk_size": "resources.disk",
    "instance_type": "resources.machine",
    "machine_type": "resources.machine",
    "zone": "where.regions",
    "zones": "where.regions",
    "spot": "where.buy",
    "use_spot": "where.buy",
    "preemptible": "where.buy",
    "timeout": "limits.ttl",
    "max_restarts": "limits.restarts",
    "max_retries": "limits.restarts",
    "retries": "limits.restarts",
    "checkpoints": "checkpoint",
    "datasets": "data",
    "tags": "labels",
}
