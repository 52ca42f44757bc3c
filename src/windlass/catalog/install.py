"""Takes a newer catalog into a home folder, whole or not at all.

Must not be reached without check.py: what is installed is used from then on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from windlass.catalog.check import check
from windlass.catalog.load import FORCED, NEWER, PACKAGED, chosen, snapshot_of
from windlass.catalog.pack import packed
from windlass.catalog.query import Catalog
from windlass.catalog.tables import SOURCE_BYTES_MAX, Complaints, is_folder_of_tables, read_tables
from windlass.errors import CatalogRefused, HomeUnusable

KEPT = "The catalog in use has not been changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A catalog that may be installed."""

    data: bytes
    catalog: Catalog
    notes: tuple[str, ...]


def read_checked(source: Path, *, today: str, snapshot: str | None = None) -> Checked:
    """The catalog in a compact file or in a folder of CSV files, if nothing is wrong with it.

    `today` is a date, to tell a snapshot of the future; `snapshot` is for a folder whose README
    does not say of which day it is.

    Raises:
        CatalogRefused: with everything that is wrong.
    """
    complaints = Complaints()
    if source.is_dir():
        data = _packed(source, complaints, snapshot)
    else:
        data = _read(source)
    catalog = check(data, complaints, where=str(source))
    if catalog.snapshot > today:
        raise CatalogRefused(
            f"{source}: its snapshot is of {catalog.snapshot}, and today is {today}",
            remedy=f"Set the clock of this machine, or get another file. {KEPT}",
        )
    return Checked(data=data, catalog=catalog, notes=tuple(complaints.notes))


def install(checked: Checked, folder: Path, *, is_forced: bool = False) -> Path:
    """Use this catalog from now on; the path that it has now.

    Raises:
        CatalogRefused: it is older than the one in use, and that was not wanted.
        HomeUnusable: the folder cannot be written.
    """
    snapshot, current = checked.catalog.snapshot, snapshot_of(chosen(folder))
    if snapshot < current and not is_forced:
        raise CatalogRefused(
            f"the snapshot of {snapshot} is older than the one in use, of {current}",
            remedy=f"Give `--force` to go back to it all the same. {KEPT}",
        )
    is_newer = snapshot >= snapshot_of(PACKAGED)
    path = folder / (NEWER if is_newer else FORCED)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _replace(path, checked.data)
        if is_newer:
            (folder / FORCED).unlink(missing_ok=True)
    except OSError as exc:
        raise HomeUnusable(
            f"the catalog cannot be written to {folder}: {exc.strerror}",
            remedy=f"Make room, or set WINDLASS_HOME to a folder that you can write. {KEPT}",
        ) from exc
    return path


def reset(folder: Path) -> bool:
    """Go back to the catalog that came with Windlass; False when it is in use already."""
    found = [path for name in (FORCED, NEWER) if (path := folder / name).exists()]
    for path in found:
        path.unlink(missing_ok=True)
    return bool(found)


def _packed(folder: Path, complaints: Complaints, snapshot: str | None) -> bytes:
    if not is_folder_of_tables(folder):
        raise CatalogRefused(
            f"{folder} has no offers.csv",
            remedy="Name a catalog file, or a folder with offers.csv and its companions.",
        )
    tables = read_tables(folder, complaints)
    day = snapshot or tables.snapshot
    if day is None:
        raise CatalogRefused(
            f"{folder} does not say of which day its prices are",
            remedy="Give the day: `--snapshot 2026-08-21`.",
        )
    data = packed(tables, snapshot=day)
    complaints.raise_if_any(str(folder))
    return data


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(SOURCE_BYTES_MAX + 1)
    except OSError as exc:
        raise CatalogRefused(
            f"{path} cannot be read: {exc.strerror}",
            remedy="Name a catalog file, or a folder with offers.csv and its companions.",
        ) from exc
    if len(data) > SOURCE_BYTES_MAX:
        raise CatalogRefused(
            f"{path} is larger than {SOURCE_BYTES_MAX >> 20} MiB: no catalog is",
            remedy=f"Name a catalog file. {KEPT}",
        )
    return data


def _replace(path: Path, data: bytes) -> None:
    """A reader sees the old file or the new one, also after a crash."""
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with staged.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)
