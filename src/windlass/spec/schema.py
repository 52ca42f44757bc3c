"""JSON Schemas (draft 7, what YAML editors read) of the files a user writes.

Must not be imported to load a spec: it is for editors and documents. Descriptions live here.
"""

from __future__ import annotations

from typing import Any

from windlass.spec import names, sections
from windlass.spec.accelerators import GPUS, TPUS
from windlass.spec.model import Limits

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_ACCELERATOR_EXAMPLES = ["H100:8", "A100-80:8", "L4", "v5e-16"]
_DURATION = r"^\s*([0-9]+(\.[0-9]+)?\s*[smhdSMHD]\s*)+$"
_SIZE = r"^\s*[0-9]+(\.[0-9]+)?\s*([kKmMgGtTpP][iI]?)?[bB]\s*$"
_MONEY = (
    r"^\s*(\$\s*[0-9]+(\.[0-9]{1,2})?\s*([uU][sS][dD])?|[0-9]+(\.[0-9]{1,2})?\s*[uU][sS][dD])\s*$"
)
_VARIABLE = r"^(?![wW][iI][nN][dD][lL][aA][sS][sS]_)[A-Za-z_][A-Za-z0-9_]*$"
_AS_WRITTEN = ["string", "number", "boolean"]

_ENGINE_OPTIONS: Schema = {
    "description": "Options that only one engine knows, under the engine's name.",
    "type": "object",
    "propertyNames": {"pattern": "^[a-z][a-z0-9-]*$"},
    "additionalProperties": {"type": "object"},
}


def spec_schema() -> Schema:
    """The schema of a spec."""
    return {
        "$schema": _DRAFT,
        "$id": "https://windlass.dev/schema/spec.json",
        "title": "Windlass spec",
        **_mapping(
            "One run, as the user wants it.",
            {**_program(), **_surroundings(), **_planning()},
            required=["name", "run"],
        ),
    }


def config_schema() -> Schema:
    """The schema of `config.yaml` in the home folder."""
    properties = {
        "engines": _one_or_more(
            "Engines used when a spec names none. Default: local.",
            _text("An engine.", "^[a-z][a-z0-9-]*$"),
        ),
        "store": _text(
            "Where runs are remembered. Default: a SQLite file in the home folder.",
            "^(sqlite:///.+|postgresql://.+)$",
            examples=["sqlite:////var/lib/windlass/runs.db", "postgresql://db.internal/windlass"],
        ),
        "project": _text("The Google Cloud project.", examples=["my-project-123"]),
        "impersonate": _text(
            "The service account that Google's APIs are called as. Default: your own login.",
            examples=["ci@my-project-123.iam.gserviceaccount.com"],
        ),
        "run_folder": _text(
            "URL or path under which every run gets its folder. Default: in the home folder.",
            examples=["gs://my-bucket/windlass"],
        ),
        "engine": _ENGINE_OPTIONS,
        "policy": _text("Path of the policy file, counted from the home folder."),
        "owner": _text("Who runs belong to. Default: the name you are logged in with."),
    }
    return {
        "$schema": _DRAFT,
        "$id": "https://windlass.dev/schema/config.json",
        "title": "Windlass configuration",
        **_mapping("What holds for every run unless its spec says otherwise.", properties),
    }


def _program() -> Schema:
    """The keys that say what is run."""
    return {
        "name": {
            "description": "The run's name: letters of any script, digits, spaces, - _ and dots.",
            "type": _AS_WRITTEN,
            "minLength": 1,
            "maxLength": names.NAME_MAX,
            "pattern": "^[^/\\\\:'\"$`;|&<>*?!]+$",
            "examples": ["llm-pretrain"],
        },
        "kind": _choice("What kind of run this is.", ["train"], default="train"),
        "run": _text(
            "The command that every rank runs, in a shell, in the workdir.",
            r"\S",
            examples=["python train.py --config base.yaml"],
        ),
        "launch": _choice(
            "Who starts the ranks, and so what environment they get. Default: from the framework "
            "that the entry point uses, else plain.",
            ["plain", "torchrun", "jax", "tensorflow"],
        ),
        "workdir": _text(
            "The folder that is shipped, counted from the spec's own; .gitignore is honoured.",
            r"\S",
            default=".",
        ),
        "setup": _text(
            "A command that runs once per node before the ranks, again when the source changed.",
            r"\S",
            examples=["pip install -r requirements.txt"],
        ),
        "image": _text(
            "A container image, for engines that run containers.", examples=["python:3.12-slim"]
        ),
    }


def _surroundings() -> Schema:
    """The keys that say what the program finds around it."""
    return {
        "env": {
            "description": "Environment variables of the ranks. Numbers and booleans are passed "
            "as they are written.",
            "type": "object",
            "propertyNames": {"pattern": _VARIABLE},
            "additionalProperties": {"type": _AS_WRITTEN},
            "examples": [{"LOG": "info"}],
        },
        "secrets": {
            "description": "Secrets the ranks get as environment variables: a list of names, or "
            "a mapping of the name in the environment to the name at the source.",
            "anyOf": [
                {"type": "array", "items": {"type": "string", "pattern": _VARIABLE}, "minItems": 1},
                {
                    "type": "object",
                    "propertyNames": {"pattern": _VARIABLE},
                    "additionalProperties": {"type": "string"},
                },
            ],
            "examples": [["HF_TOKEN"]],
        },
        "data": {
            "description": "Places of training data; each reaches the ranks as "
            "WINDLASS_DATA_<NAME>.",
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z][A-Za-z0-9_]*$"},
            "additionalProperties": {"type": "string", "pattern": r"\S"},
            "examples": [{"train": "gs://bucket/shards/"}],
        },
        "labels": {
            "description": "Labels on everything the run creates, by Google's rules.",
            "type": "object",
            "propertyNames": {"maxLength": names.LABEL_MAX, "pattern": "^[^A-Z0-9_-][^A-Z .:/]*$"},
            "additionalProperties": {"type": _AS_WRITTEN, "maxLength": names.LABEL_MAX},
            "examples": [{"team": "nlp"}],
        },
        "checkpoint": _mapping(
            "Where checkpoints go, how often, and how many are kept.",
            {
                "to": _text(
                    "A path or URL. Default: `checkpoints/` in the run folder.",
                    examples=["gs://bucket/ckpt"],
                ),
                "every": {
                    "description": "How often: a duration, or auto.",
                    "anyOf": [{"const": "auto"}, {"type": "string", "pattern": _DURATION}],
                    "default": "auto",
                },
                "keep": _whole("How many of the newest are kept.", low=1, default=3),
            },
        ),
    }


def _planning() -> Schema:
    """The keys that say where, on what, how long and for how much."""
    return {
        "resources": _mapping("What each node must have, and how many nodes.", _resources()),
        "where": _mapping("Where the run may go and how it may be bought.", _where()),
        "engine": _ENGINE_OPTIONS,
        "work": _mapping("How much there is to do, for the plan and the progress bar.", _work()),
        "limits": _mapping("When to stop trying.", _limits()),
    }


def _resources() -> Schema:
    return {
        "accelerators": _one_or_more(
            "Any of these will do: GPUs per node, or a TPU slice.", _accelerator()
        ),
        "nodes": {
            "description": "How many nodes (slices, for TPUs): a number, or a range such as "
            "2..64 for the planner to choose from.",
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": sections.NODES_MAX},
                {"type": "string", "pattern": r"^\s*[0-9]+(\s*\.\.\s*[0-9]+)?\s*$"},
            ],
            "default": 1,
        },
        "cpus": _positive("CPUs per node.", maximum=sections.CPUS_MAX),
        "memory": _text("Memory per node.", _SIZE, examples=["64GiB"]),
        "disk": _text("Disk per node.", _SIZE, examples=["500GB"]),
        "machine": _text("A machine type.", "^[a-z][a-z0-9-]*$", examples=["a3-highgpu-8g"]),
    }


def _accelerator() -> Schema:
    known = ", ".join((*GPUS, *TPUS))
    return _text(f"NAME:COUNT or a TPU slice; known are {known}.", examples=_ACCELERATOR_EXAMPLES)


def _where() -> Schema:
    ways = "|".join(sections.BUYS)
    return {
        "engines": _one_or_more(
            "Engines that may be used. Default: from the configuration, else local.",
            _text("An engine.", "^[a-z][a-z0-9-]*$"),
        ),
        "regions": _one_or_more(
            "Regions that may be used; `*` stands for anything.",
            _text("A region.", "^[a-z0-9*-]+$", examples=["us-*", "europe-west4"]),
        ),
        "buy": _one_or_more(
            "How machines may be bought; the order breaks ties. Default: on-demand, with "
            "checkpoint also spot.",
            _text(
                "A way to buy.",
                f"^({ways}|{sections.RESERVATION}.+)$",
                examples=[*sections.BUYS, "reservation/my-block"],
            ),
        ),
        "race": _whole(
            "How many offers may be asked for at once.", low=1, high=sections.RACE_MAX, default=1
        ),
    }


def _work() -> Schema:
    reference = _mapping(
        "A measurement that tells how long a step takes.",
        {
            "accelerators": _accelerator(),
            "nodes": _whole("How many nodes it was measured on.", low=1, default=1),
            "step_seconds": _positive("How long one step took, in seconds."),
        },
        required=["accelerators", "step_seconds"],
    )
    return {
        "steps": _whole("How many steps there are.", low=1),
        "params": _positive("How many parameters the model has, such as 7e9; with tokens."),
        "tokens": _positive("How many tokens are seen, such as 2e11; with params."),
        "reference": reference,
    }


def _limits() -> Schema:
    return {
        "deadline": _text(
            "When it should be done: a target, counted from submit.", _DURATION, examples=["72h"]
        ),
        "budget": _text("What it may cost, in US dollars.", _MONEY, examples=["900 USD"]),
        "restarts": _whole(
            "How often it is started again after a loss.", low=0, default=Limits().restarts
        ),
        "ttl": _text(
            "When the run and its machines are stopped for good, counted from submit.",
            _DURATION,
            examples=["96h"],
        ),
    }


def _mapping(description: str, properties: Schema, *, required: list[str] | None = None) -> Schema:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    } | ({"required": required} if required else {})


def _text(description: str, pattern: str | None = None, **more: Any) -> Schema:
    found: Schema = {"description": description, "type": "string", **more}
    return found | ({"pattern": pattern} if pattern else {})


def _choice(description: str, choices: list[str], **more: Any) -> Schema:
    return {"description": description, "enum": choices, **more}


def _one_or_more(description: str, item: Schema) -> Schema:
    listed = {"type": "array", "items": item, "minItems": 1, "uniqueItems": True}
    return {"description": description, "anyOf": [item, listed]}


def _whole(description: str, *, low: int, high: int | None = None, **more: Any) -> Schema:
    found: Schema = {"description": description, "type": "integer", "minimum": low, **more}
    return found | ({"maximum": high} if high is not None else {})


def _positive(description: str, **more: Any) -> Schema:
    # YAML editors take 7e9 for text, since YAML 1.1 wants a dot and a sign in it.
    return {
        "description": description,
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, **more},
            {"type": "string", "pattern": r"^[0-9.]+[eE][+-]?[0-9]+$"},
        ],
    }
