"""Vertex AI: commands of containers, prebuilt images, worker pools, and what AI Platform was.

Must not know other services.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from windlass.gcloudlint.command import Command, Flag
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Edit, Found, Rule, Severity

GONE = Rule(
    id="ai-platform-gone",
    severity=Severity.ERROR,
    summary="AI Platform was shut down; `gcloud ai` is Vertex AI's",
)
POOL_KEY = Rule(
    id="worker-pool-key",
    severity=Severity.ERROR,
    summary="`--worker-pool-spec` has no such key; `--config` can say more",
)
ONE_WORD = Rule(
    id="command-one-word",
    severity=Severity.WRONG,
    summary="`--command` and `--args` of custom jobs are comma lists: spaces stay in one word",
)
NO_CODE = Rule(
    id="prebuilt-image-without-code",
    severity=Severity.WRONG,
    summary="A prebuilt training image does not contain the program",
)
VERTEX_TPU = Rule(
    id="vertex-tpu-machine",
    severity=Severity.WRONG,
    summary="`cloud-tpu` with `TPU_V4_POD`: Vertex AI's TPUs are `ct5lp-hightpu-*` and `ct6e-*`",
)
IMAGE_NAME = Rule(
    id="prebuilt-image-name",
    severity=Severity.STALE,
    summary="Names of prebuilt images end in the Python version: `pytorch-gpu.1-13.py310`",
)
RULES = (GONE, POOL_KEY, ONE_WORD, NO_CODE, VERTEX_TPU, IMAGE_NAME)

POOL_KEYS = frozenset(
    "replica-count machine-type accelerator-type accelerator-count container-image-uri "
    "executor-image-uri output-image-uri python-module script local-package-path requirements "
    "extra-dirs extra-packages".split()
)
PREBUILT = re.compile(r"[\w.-]*docker\.pkg\.dev/vertex-ai/training/[\w.-]+(?::[\w.-]+)?")
OLD_IMAGE = re.compile(r"(vertex-ai/training/[a-z]+-(?:gpu|cpu|tpu)\.\d+-\d+)(?![\w.-])")
_PROGRAM = re.compile(r"python3?[ ,]+(?:-u[ ,]+)?([\w./-]+\.py)")


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """Everything about Vertex AI."""
    if command.names and command.names[0] in ("ai-platform", "ml-engine"):
        at = command.places[-len(command.names)]
        message = "AI Platform was shut down in January 2025; Vertex AI's group is `gcloud ai`"
        is_training = command.path.endswith("jobs submit training")
        edits = _as_custom(command) if is_training else (Edit(at=at, text="ai"),)
        yield Found(rule=GONE, message=message, at=at, edits=edits)
    if command.path not in ("ai custom-jobs create", "ai hp-tuning-jobs create"):
        return
    for pool in (flag for flag in command.flags if flag.name == "--worker-pool-spec"):
        yield from _pool(command, pool)
    yield from _one_word(command)


def _as_custom(command: Command) -> tuple[Edit, ...]:
    """`jobs submit training` has another name; its flags are for whoever moves it to judge."""
    first, *rest = command.places[-len(command.names) :]
    return (Edit(at=first, text="ai custom-jobs create"), *(Edit(at=at, text=None) for at in rest))


def _pool(command: Command, pool: Flag) -> Iterator[Found]:
    keys = pool.pairs()
    for key in keys:
        if (
            key
            and re.fullmatch(r"[a-z-]+", key)
            and f"{key}=" in pool.value
            and key not in POOL_KEYS
        ):
            message = f"--worker-pool-spec has no key {key}: write the pool into --config"
            yield Found(rule=POOL_KEY, message=message, at=pool.at)
    image = keys.get("container-image-uri", "")
    if keys.get("machine-type") == "cloud-tpu":
        yield Found(rule=VERTEX_TPU, message=TPU_MESSAGE, at=pool.at)
    if PREBUILT.fullmatch(image):
        yield _no_code(command, pool)
    elif old := OLD_IMAGE.search(pool.value):
        edits = pool.become(pool.name, pool.value.replace(old[1], dated(old[1])))
        yield Found(rule=IMAGE_NAME, message=image_message(old[1]), at=pool.at, edits=edits)
    if PREBUILT.fullmatch(image) and (old := OLD_IMAGE.search(image)):
        yield Found(rule=IMAGE_NAME, message=image_message(old[1]), at=pool.at)


TPU_MESSAGE = (
    "Vertex AI trains on v5e and v6e as ct5lp-hightpu-4t or ct6e-standard-4t with a tpuTopology, "
    "which only --config can say"
)


def image_message(name: str) -> str:
    """What to say about an image without a Python version."""
    return f"Google lists this image as {dated(name).rpartition('/')[2]}"


def dated(name: str) -> str:
    """The name of an image with the Python version, which those for TPUs spell differently."""
    return f"{name}.{'cp310' if '-tpu.' in name else 'py310'}"


def _no_code(command: Command, pool: Flag) -> Found:
    said = command.flag("--command")
    found = _PROGRAM.search(f"{said.value if said else ''}")
    program = found[1] if found else "train.py"
    message = (
        f"the prebuilt image does not contain {program}: let gcloud build it in with "
        "local-package-path, script and executor-image-uri (this needs Docker)"
    )
    value = OLD_IMAGE.sub(lambda found: dated(found[1]), pool.value)
    source = f"local-package-path=.,script={program},executor-image-uri="
    edits = pool.become(pool.name, value.replace("container-image-uri=", source))
    return Found(
        rule=NO_CODE,
        message=message,
        at=pool.at,
        edits=(*edits, *(said.drop() if said else ())),
    )


def _one_word(command: Command) -> Iterator[Found]:
    for flag in (command.flag("--command"), command.flag("--args")):
        if flag is None or not re.search(r"\S\s+\S", flag.value) or flag.value.startswith("^"):
            continue
        if re.search(r"-c[, ]|[;&|]", flag.value):
            continue  # A script for `bash -c`: its spaces are meant.
        listed = ",".join(flag.value.replace(",", " ").split())
        message = f"{flag.name} is a comma list: the container gets the one word {flag.value!r}"
        edits = flag.become(flag.name, listed)
        yield Found(rule=ONE_WORD, message=message, at=flag.at, edits=edits)
