"""The entry point: runs a command, turns every error into words and an exit status.

Must not know any command. The only place of the CLI that may catch every exception.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from click.exceptions import ClickException

    from windlass.errors import WindlassError

INTERRUPTED = 130
OUTPUT_LOST = 74
GARBAGE_AFTER = 50_000
"""New objects before garbage is looked for. A start makes tens of thousands and no garbage: with
Python's own 700, looking is a twelfth of `windlass version`."""


def main() -> NoReturn:
    """The `windlass` command."""
    gc.set_threshold(GARBAGE_AFTER)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # Closed by the caller: what nobody reads goes nowhere.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123 - pathlib is slow to import.
    status = run(sys.argv[1:])
    if _is_output_lost():
        status = status or OUTPUT_LOST
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    # Taking the interpreter apart is a seventh of `windlass ps`, and does nothing that the end of
    # the process does not do by itself.
    os._exit(status)


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit status and never raises."""
    for stream in (sys.stdout, sys.stderr):
        # What a rank printed may not exist in the terminal's encoding; that must not end us.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from windlass.cli.group import group

    try:
        status = group().main(arguments or ["--help"], prog_name="windlass", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # Click makes the one of the other.
        _close_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: a bug becomes a report.
        return _explain(error, arguments)


def _explain(error: Exception, arguments: list[str]) -> int:
    """Say what went wrong, whoever is to blame; the exit status. Imported late: it is rare."""
    from click.exceptions import Abort, ClickException

    from windlass.errors import WindlassError

    is_json = "--json" in arguments[: _first_foreign(arguments)]
    if isinstance(error, Abort):
        return INTERRUPTED
    if isinstance(error, OSError) and _is_output_lost("\n"):
        return OUTPUT_LOST
    if isinstance(error, ClickException):
        error = _misuse(error)
    elif not isinstance(error, WindlassError):
        error = _unreachable(error) or _bug(error, arguments)
    from windlass.cli.render import show_error

    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    show_error(error, is_json=is_json)
    return error.exit_status


def _first_foreign(arguments: list[str]) -> int:
    """Where the arguments end that are ours: `exec` passes on what follows `--`."""
    return arguments.index("--") if "--" in arguments else len(arguments)


def _misuse(error: ClickException) -> WindlassError:
    """Click's own complaints, in our words."""
    from click.exceptions import UsageError

    from windlass.errors import OptionRefused

    context = error.ctx if isinstance(error, UsageError) else None
    command = context.command_path if context else "windlass"
    return OptionRefused(error.format_message(), remedy=f"See `{command} --help`.")


def _unreachable(error: Exception) -> WindlassError | None:
    """A run folder in a bucket that did not answer, or said no."""
    from windlass.agent.storage import BucketError
    from windlass.errors import FolderUnreachable

    if not isinstance(error, BucketError):
        return None
    return FolderUnreachable(
        f"the run's folder cannot be reached: {error}",
        remedy="Check that the bucket is there, that you may read it, and the network.",
    )


def _bug(error: Exception, arguments: list[str]) -> WindlassError:
    """Keep everything a maintainer needs, and say where it is."""
    from windlass.cli.bugs import write_report
    from windlass.errors import InternalError

    where = write_report(error, arguments)
    return InternalError(
        f"{type(error).__name__}: {error}",
        context="This is a bug in Windlass; runs that are going on are not hurt by it.",
        remedy=f"Send {where} to the maintainers." if where else "",
    )


def _is_output_lost(text: str = "") -> bool:
    """Write this and what is left to be written; True, and said, when it cannot be."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
    except OSError as error:
        _close_stdout()
        with contextlib.suppress(OSError):
            sys.stderr.write(f"windlass: the output could not be written: {error.strerror}\n")
        return True
    return False


def _close_stdout() -> None:
    """The reader has gone (`| head`), or there is no room: let nobody try again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
