"""Brings a database to the schema that this code knows: numbered SQL files, forward only.

Must not run anything when the database is up to date: that is the path of every command.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from windlass.errors import StoreTooNew
from windlass.state.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A folder of migrations and the number of the newest, known without reading the folder."""

    folder: Path
    version: int


SHIPPED = Schema(folder=Path(__file__).parent / "migrations", version=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step from a version to the next."""

    version: int
    name: str
    statements: tuple[str, ...]


def bring_up_to_date(database: Database, schema: Schema) -> None:
    """Apply what is missing, in order and all or nothing; StoreTooNew if there is nothing to do
    but to get a newer Windlass. Several processes may do this at once."""
    if _missing_after(database, schema) == schema.version:
        return
    with database.migrating():
        # Another process may have done it while this one waited for the lock.
        applied = _missing_after(database, schema)
        for migration in read_migrations(schema.folder, database.dialect):
            if applied < migration.version <= schema.version:
                for statement in migration.statements:
                    database.query(statement)
                database.query(
                    "INSERT INTO schema_version (version, name) VALUES (?, ?)",
                    (migration.version, migration.name),
                )


def read_migrations(folder: Path, dialect: str) -> list[Migration]:
    """The migrations of a dialect in order: `0001_name.sql` is for all, `0001_name.sqlite.sql`
    for one."""
    found = []
    for path in sorted(folder.glob("*.sql")):
        stem, _, only = path.name.removesuffix(".sql").partition(".")
        if only in ("", dialect):
            number, _, name = stem.partition("_")
            text = path.read_text(encoding="utf-8")
            statements = tuple(_statements(text))
            found.append(Migration(version=int(number), name=name, statements=statements))
    return found


def _missing_after(database: Database, schema: Schema) -> int:
    version = database.schema_version()
    if version > schema.version:
        raise StoreTooNew(
            f"the store {database.place} has schema {version};"
            f" this Windlass knows none newer than {schema.version}",
            remedy="Use the Windlass that wrote it or a newer one: `pip install -U windlass`.",
        )
    return version


def _statements(text: str) -> Iterator[str]:
    """Cut a file into statements: each ends with a semicolon at the end of a line."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("--"):
            continue
        lines.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(lines)
            lines = []
    assert not lines, "the last statement of a migration has no semicolon"
