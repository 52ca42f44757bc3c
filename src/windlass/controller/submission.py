"""Makes a run out of a spec: an id, its folder, its source, its row in the store.

Must not start anything: the controller does when it sees the row. The row is written last, so a
crash before it leaves a folder nobody looks at and no run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from windlass.agent import layout
from windlass.controller.folders import RunFolders
from windlass.controller.renting import Gang, recorded
from windlass.controller.request import first_request
from windlass.controller.secrets import SecretFiles, check_available
from windlass.controller.source import Source, pack
from windlass.engines.base import Admits, Engine
from windlass.errors import CapacityError, MachineTooSmall, OptionRefused, RunChanged
from windlass.ports.world import World
from windlass.spec.canonical import from_json, to_json
from windlass.spec.model import Spec
from windlass.spec.names import slug
from windlass.state.model import Event, Run
from windlass.state.store import Store

TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What the caller of `windlass run` wants beside the spec."""

    spec: Spec
    spec_file: Path
    engine: str
    owner: str
    is_emulated: bool
    environment: Mapping[str, str]
    """What ranks inherit on the caller's own machine."""
    caller: Mapping[str, str]
    """Everything the caller has set, where the values of secrets are taken from."""
    rented: tuple[Gang, ...] = ()
    """What was chosen, and where else to ask, in order; empty where nothing is rented."""
    cloud: str = ""
    """The one that it is of; empty for a run that needs none."""


def submit(
    ask: Ask,
    *,
    world: World,
    store: Store,
    engine: Engine[Any],
    folders: RunFolders,
    secrets: SecretFiles,
) -> Run:
    """Check, ship the source, and write the run. Raises before anything is written when the engine
    can never hold it."""
    now = world.clock.now()
    if ask.rented:
        folders.bucket_place()  # Else its machines would be paid for, and never be heard.
    check_available(ask.spec.secrets, engine=engine, caller=ask.caller)
    for _ in range(TRIES):
        run = new_run(ask, run_id=f"{slug(ask.spec.name)}-{world.entropy.id()}", now=now)
        run = _choose(engine, run)
        folder = folders.path(run.id)
        if not _make(folder):
            continue  # Somebody else has this id.
        try:
            source = _ship(ask, folder, home=folders.home)
            run = _with_options(run, source=source.sha, **folders.send(run.id, source.path.name))
            secrets.keep_for(run.id, ask.spec.secrets, engine=engine, caller=ask.caller)
            store.add_run(run, _first_event(run, source))
        except BaseException as error:
            secrets.forget(run.id)
            folders.take_back(run.id)
            if isinstance(error, RunChanged):
                continue  # The id is taken in a store that others share.
            raise
        return run
    raise OptionRefused(
        f"no free id for {ask.spec.name!r} was found", remedy="Run the command again."
    )


def _ship(ask: Ask, folder: Path, *, home: Path) -> Source:
    """Put spec and source where the agents will look for them."""
    workdir = (ask.spec_file.parent / Path(ask.spec.workdir).expanduser()).resolve()
    # A home inside the workdir would ship itself.
    source = pack(workdir, folder, leave_out=[home])
    (folder / layout.SPEC).write_bytes(ask.spec_file.read_bytes())
    return source


def _first_event(run: Run, source: Source) -> Event:
    noun = "file" if source.files == 1 else "files"
    return Event(
        run=run.id,
        attempt=0,
        at=run.created_at,
        code="submitted",
        message=f"submitted with {source.files} {noun} of source",
        details={"notes": list(source.notes)},
    )


def new_run(ask: Ask, *, run_id: str, now: float) -> Run:
    """The run of a spec, which nobody knows of yet."""
    ttl_s = ask.spec.limits.ttl_s
    options: dict[str, Any] = {
        "emulate": ask.is_emulated,
        "environment": dict(ask.environment),
    }
    if ask.rented:
        options["rented"] = ask.rented[0]._asdict()
        options["offers"] = recorded(ask.rented[1:])
    return Run(
        id=run_id,
        name=ask.spec.name,
        spec=to_json(ask.spec),
        owner=ask.owner,
        engine=ask.engine,
        created_at=now,
        expires_at=now + ttl_s if ttl_s is not None else None,
        code="submitted",
        reason="waiting for the controller",
        options=json.dumps(options, sort_keys=True),
        cloud=ask.cloud,
    )


def _with_options(run: Run, **more: Any) -> Run:
    options = json.loads(run.options) | more
    return replace(run, options=json.dumps(options, sort_keys=True))


def _choose(engine: Engine[Any], run: Run) -> Run:
    """The run with the first of its accelerators that the engine can ever give it.

    Raises what the engine says of them when it can give none.
    """
    count = max(1, len(from_json(run.spec).resources.accelerators))
    refusals: list[CapacityError] = []
    for index in range(count):
        chosen = _with_options(run, wanted=index)
        try:
            _check_engine(engine, chosen)
        except CapacityError as refusal:
            refusals.append(refusal)
            continue
        return chosen
    said = "; ".join(dict.fromkeys(refusal.message for refusal in refusals))
    raise MachineTooSmall(said, remedy=refusals[0].remedy)


def _check_engine(engine: Engine[Any], run: Run) -> None:
    request = first_request(run, folder="file:///")
    if request.nodes > engine.limits().nodes_max:
        raise OptionRefused(
            f"{request.nodes} nodes are more than the {engine.limits().nodes_max} of {engine.name}",
            remedy="Lower resources.nodes, or choose another engine with --on.",
        )
    if isinstance(engine, Admits):
        engine.admit(request)


def _make(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        return False
    return True
