"""A spec file to a checked Spec, or every problem it has.

Must not know any engine, nor change anything: the same file gives the same spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from windlass.spec import framework, keys, names, sections
from windlass.spec.document import read_bounded, read_table
from windlass.spec.model import Launch, Spec
from windlass.spec.problems import Problems
from windlass.spec.reader import Reader
from windlass.spec.refused import Refused, quoted
from windlass.spec.suggest import did_you_mean
from windlass.spec.tree import Scalar

LABELS_MAX = 56
_LATER_KINDS = ("batch", "serve", "trials", "pipeline")
_LATER_KEYS = ("roles",)


def load_spec(path: Path) -> Spec:
    """The spec in that file.

    Raises SpecInvalid with every problem, OptionRefused when there is no such file.
    """
    return parse_spec(read_bounded(path), path=str(path), folder=path.parent)


def parse_spec(text: str | bytes, *, path: str, folder: Path | None) -> Spec:
    """The spec in that text. `path` is shown in problems; `folder` is what workdir starts from.

    Without a folder, nothing is looked up on the disk. Raises SpecInvalid with every problem.
    """
    problems = Problems(path)
    table = read_table(text, problems)
    if table is None:
        raise problems.error()
    table.pairs = [pair for pair in table.pairs if not _is_for_later(pair[0], problems)]
    elsewhere = {**keys.HOME, **keys.SYNONYMS}
    reader = Reader(table, problems, title="a spec", keys=keys.SPEC, elsewhere=elsewhere)
    spec = _read_spec(reader, folder)
    if problems:
        raise problems.error()
    return spec


def _is_for_later(key: Scalar, problems: Problems) -> bool:
    if key.text not in _LATER_KEYS:
        return False
    message = f"{quoted(key.text)} cannot be used yet"
    problems.add("not-yet", key, message=message, remedy="Give one `run` and its `resources`.")
    return True


def _read_spec(reader: Reader, folder: Path | None) -> Spec:
    reader.require("name", example="my-first-run")
    reader.require("run", example="python train.py")
    reader.scalar("kind", _kind)
    env = reader.named("env", names.variable_name, value=str)
    run = reader.scalar("run", _command) or ""
    workdir = reader.scalar("workdir", _path) or "."
    return Spec(
        name=reader.scalar("name", names.run_name) or "",
        run=run,
        launch=_read_launch(reader, run, _checked_workdir(reader, workdir, folder)),
        workdir=workdir,
        setup=reader.scalar("setup", _command),
        image=reader.scalar("image", names.image_name),
        env=env,
        secrets=sections.read_secrets(reader, env),
        resources=sections.read_resources(sections.section(reader, "resources", keys.RESOURCES)),
        where=sections.read_where(sections.section(reader, "where", keys.WHERE)),
        engine=sections.read_engine(reader),
        work=sections.read_work(sections.section(reader, "work", keys.WORK)),
        limits=sections.read_limits(sections.section(reader, "limits", keys.LIMITS)),
        checkpoint=sections.read_checkpoint(
            sections.section(reader, "checkpoint", keys.CHECKPOINT)
        ),
        data=_read_data(reader),
        labels=_read_labels(reader),
    )


def _kind(text: str) -> str:
    if text in _LATER_KINDS:
        message = f"kind {quoted(text)} cannot be used yet"
        raise Refused("not-yet", message, remedy="Use `kind: train`, or remove the line.")
    if text != "train":
        remedy = did_you_mean(text, ("train",), otherwise="Use `train`, or remove the line.")
        raise Refused("unknown-kind", f"there is no kind {quoted(text)}", remedy=remedy)
    return text


def _command(text: str) -> str:
    if not text.strip():
        remedy = "Write a command, such as `python train.py`."
        raise Refused("empty-command", "the command is empty", remedy=remedy)
    return text


def _path(text: str) -> str:
    if not text.strip():
        raise Refused("bad-path", "the path is empty", remedy="Write `.` for the spec's folder.")
    return text


def _checked_workdir(reader: Reader, workdir: str, folder: Path | None) -> Path | None:
    """The folder that will be shipped, with a problem added when there is none."""
    if folder is None:
        return None
    place = folder / workdir
    if place.is_dir():
        return place
    reader.add(
        "workdir-missing",
        reader.node("workdir") or reader.table,
        message=f"there is no folder {quoted(workdir)} beside the spec",
        remedy="Write a folder that exists, counted from the spec's own folder.",
    )
    return None


def _read_launch(reader: Reader, run: str, workdir: Path | None) -> Launch:
    if reader.node("launch") is None:
        return framework.launch_for(run, workdir)
    return reader.scalar("launch", _launch) or Launch.PLAIN


def _launch(text: str) -> Launch:
    choices = [launch.value for launch in Launch]
    if text not in choices:
        remedy = did_you_mean(text, choices, otherwise=f"Use one of {', '.join(choices)}.")
        raise Refused("unknown-launch", f"there is no launch {quoted(text)}", remedy=remedy)
    return Launch(text)


def _read_data(reader: Reader) -> Mapping[str, str]:
    found = reader.named("data", names.data_name, value=_path)
    seen: dict[str, str] = {}
    for key, _ in reader.pairs("data") if found else ():
        first = seen.setdefault(key.text.upper(), key.text)
        if first != key.text:
            message = f"{quoted(key.text)} and {quoted(first)} become the same variable"
            reader.add("duplicate-value", key, message=message, remedy="Rename one of them.")
    return found


def _read_labels(reader: Reader) -> Mapping[str, str]:
    found = reader.named("labels", names.label_key, value=names.label_value)
    if len(found) > LABELS_MAX:
        message = f"there are more than {LABELS_MAX} labels"
        reader.add(
            "too-many-labels", reader.place("labels"), message=message, remedy="Remove some."
        )
    return found
