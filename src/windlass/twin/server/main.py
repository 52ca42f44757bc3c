"""The twin's process: puts the twin together, serves it, and ends it in order.

Must not be imported by a command: it is started as a program of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from windlass.catalog.load import chosen, load_catalog
from windlass.catalog.query import Catalog
from windlass.errors import WindlassError
from windlass.ports.clock import SystemClock
from windlass.ports.entropy import SeededEntropy
from windlass.twin.access.keys import RsaKeys
from windlass.twin.assembly import Parts, Twin, build
from windlass.twin.clock import TwinClock
from windlass.twin.cloud import Cloud
from windlass.twin.journal import SqliteJournal
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.ssh_door import SshDoor
from windlass.twin.scenario.apply import Director
from windlass.twin.scenario.load import load_scenario
from windlass.twin.server.ageing import let_objects_age
from windlass.twin.server.certificates import tls_context
from windlass.twin.server.clients import prepare_clients
from windlass.twin.server.credentials import ensure_credentials
from windlass.twin.server.home import Options, TwinHome
from windlass.twin.server.listener import Server
from windlass.twin.server.recording import Recorder
from windlass.twin.server.residents import Residents
from windlass.twin.server.ticking import RealWaiting, Ticker
from windlass.twin.settings import DELAYS, Settings
from windlass.twin.storage.service import Storage
from windlass.version import VERSION

TAKEN = 3
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FILES_MAX = 1 << 16


def main(arguments: Sequence[str]) -> int:
    """Be the twin of a folder until told to end; the exit status."""
    given = _parser().parse_args(arguments)
    home = TwinHome(given.home)
    options = Options(**{name: getattr(given, name) for name in Options.__slots__})
    home.make()
    _allow_files()
    os.chdir(home.path)  # We outlive the command, whose folder may be removed.
    if not home.take():
        sys.stderr.write(f"another twin has {home.path}\n")
        return TAKEN
    try:
        return _serve(home, options, port=given.port)
    except WindlassError as error:
        sys.stderr.write(f"error[{error.code}] {error.message}\n  {error.remedy}\n")
        return error.exit_status
    finally:
        home.release()


def _serve(home: TwinHome, options: Options, *, port: int) -> int:
    asked_to_end = _heard_endings()
    settings = Settings(delays=DELAYS[options.delays], live=options.live)
    journal = SqliteJournal(home.database)
    machine_clock = SystemClock()
    start = float(journal.setting("time") or machine_clock.now())
    clock = TwinClock(machine_clock, start=start, speed=options.speed)
    waiting = RealWaiting(clock)
    cloud = Cloud(
        clock=clock,
        chance=Random(options.seed),
        journal=journal,
        settings=settings,
        waiting=waiting,
    )
    catalog = load_catalog(chosen(home.path.parent / "catalog"))
    named = options.scenario
    scenario = load_scenario(Path(named), catalog=catalog) if named else None
    director = Director(cloud, scenario)
    tls = tls_context(home.path)
    machines = Machines(home.path)
    residents = _residents(home, machines, cloud.settings, catalog=catalog)
    # Names in buckets must not come twice, so that a seed does not make them.
    storage = Storage(home.objects, clock=cloud.clock, chance=SeededEntropy())
    let_objects_age(cloud, storage)
    parts = Parts(
        token=home.token(),
        rsa=RsaKeys(),
        bodies=residents,
        consoles=residents,
        store=storage,
        watcher=Recorder(Path(options.record)) if options.record else None,
    )
    twin = _twin(home, cloud, catalog=catalog, parts=parts)
    server = Server(twin.door.answer, port=port, tls=tls)
    residents.port = server.port
    residents.answer = twin.metadata.answer
    prepare_clients(home, server.port, cloud.settings)
    with cloud.lock:
        director.apply(twin)
        twin.fleet.revive()
        cloud.commit()
    ssh = SshDoor(home.path, machines, is_modelled=_is_modelled)
    ssh.open()
    ticker = Ticker(cloud, journal, waiting, also=twin.poll)
    ticker.start()
    server.start()
    home.announce(server.port, options, version=VERSION, project=cloud.settings.project)
    sys.stderr.write(f"up on 127.0.0.1:{server.port}\n")
    sys.stderr.flush()
    os.read(asked_to_end, 1)
    waiting.end()
    server.stop()
    ticker.stop()
    ssh.close()
    residents.end()
    # Before the home is let go: closing a database touches its files by name, and by then they
    # may be those of the next twin.
    storage.close()
    journal.close()
    sys.stderr.write("down\n")
    return 0


def _heard_endings() -> int:
    """A pipe in which something is to be read once somebody asks us to end.

    Filled when a signal comes, in whatever thread and moment. A handler of ours would run when the
    main thread next does something, and that may just have begun to wait.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in ENDINGS:
        signal.signal(number, lambda *_: None)
    # Whoever has started us may have held signals back, and we would have inherited that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    return reading


def _residents(
    home: TwinHome, machines: Machines, settings: Settings, *, catalog: Catalog
) -> Residents:
    gpu_mib = {one.google_name: int(one.memory_gib * 1024) for one in catalog.chips.values()}
    return Residents(
        machines, authority=home.path / "ca.crt", project=settings.project, gpu_mib=gpu_mib
    )


def _is_modelled(address: str) -> bool:
    """Whether an address is one of those that machines without processes are given."""
    return address.startswith(("10.", "203.0.113."))


def _allow_files() -> None:
    """As many open files as we may have: each client is one, and the usual limit is low."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # Some systems say that there is no limit, and then refuse to have none.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, FILES_MAX), most))


def _twin(home: TwinHome, cloud: Cloud, *, catalog: Catalog, parts: Parts) -> Twin:
    twin = build(cloud, catalog=catalog, parts=parts)
    key = ensure_credentials(home, cloud.settings, parts.rsa)
    with cloud.lock:
        twin.accounts.add_key(key.email, key_id=key.key_id, public_pem=key.pem)
        cloud.commit()
    return twin


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="windlass.twin.server.main", allow_abbrev=False)
    usual = Options()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--speed", type=float, default=usual.speed)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--delays", choices=tuple(DELAYS), default=usual.delays)
    parser.add_argument("--live", type=int, default=usual.live)
    parser.add_argument("--scenario", default=usual.scenario)
    parser.add_argument("--record", default=usual.record)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
