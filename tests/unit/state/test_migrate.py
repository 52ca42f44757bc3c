from __future__ import annotations

import pytest

from windlass.state.migrate import SHIPPED, read_migrations
from windlass.state.sql_store import LIVE


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_shipped_migrations_are_numbered_without_a_gap_up_to_the_known_version(dialect):
    versions = [migration.version for migration in read_migrations(SHIPPED.folder, dialect)]
    assert versions == list(range(1, SHIPPED.version + 1))


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_index_of_live_runs_has_the_condition_that_is_asked_for(dialect):
    [first, *_] = read_migrations(SHIPPED.folder, dialect)
    assert sum(f"WHERE {LIVE};" in statement for statement in first.statements) == 1


def test_a_file_is_cut_at_semicolons_that_end_a_line(tmp_path):
    text = "-- A; b.\nCREATE TABLE a (\n  b TEXT DEFAULT ';'\n);\n\n  -- C;\nDROP TABLE a;\n"
    (tmp_path / "0001_first.sql").write_text(text)
    [migration] = read_migrations(tmp_path, "sqlite")
    assert migration.statements == ("CREATE TABLE a (\n  b TEXT DEFAULT ';'\n);", "DROP TABLE a;")


def test_each_dialect_reads_its_own_files_and_those_for_all(tmp_path):
    for name in ("0002_b.sql", "0001_a.sqlite.sql", "0001_a.postgres.sql", "notes.txt"):
        (tmp_path / name).write_text(f"SELECT '{name}';\n")
    found = read_migrations(tmp_path, "postgres")
    assert [(m.version, m.name) for m in found] == [(1, "a"), (2, "b")]
    assert found[0].statements == ("SELECT '0001_a.postgres.sql';",)
