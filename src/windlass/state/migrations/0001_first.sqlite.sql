-- Runs, attempts, claims, events, and the controller's lease.
-- A statement ends with a semicolon at the end of a line. Only what SQLite 3.26 knows is used.

CREATE TABLE schema_version (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    owner TEXT NOT NULL,
    engine TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    phase TEXT NOT NULL,
    wanted TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    restarts INTEGER NOT NULL,
    quick_losses INTEGER NOT NULL,
    next_attempt_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    ended_at DOUBLE PRECISION,
    expires_at DOUBLE PRECISION,
    outcome TEXT,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    options TEXT NOT NULL,
    version INTEGER NOT NULL
);

CREATE INDEX runs_by_time ON runs (created_at, id);
CREATE INDEX runs_by_name ON runs (name, created_at);

-- What the controller reads in every pass: its cost must not grow with runs that have ended.
CREATE INDEX runs_live ON runs (created_at, id)
    WHERE phase IN ('queued', 'starting', 'running', 'stopping');

CREATE TABLE attempts (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    phase TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    ended_at DOUBLE PRECISION,
    outcome TEXT,
    exit_status INTEGER,
    failed_node INTEGER,
    failed_rank INTEGER,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    winner TEXT NOT NULL,
    given_up BOOLEAN NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE claims (
    id TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    engine TEXT NOT NULL,
    phase TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    handle TEXT NOT NULL,
    tries INTEGER NOT NULL,
    retry_at DOUBLE PRECISION NOT NULL,
    error TEXT NOT NULL,
    UNIQUE (run, attempt, "index"),
    FOREIGN KEY (run, attempt) REFERENCES attempts (run, number) ON DELETE CASCADE
);

-- A run that was restarted a thousand times has a thousand claims, nearly all of them gone.
CREATE INDEX claims_open ON claims (run, attempt) WHERE phase <> 'gone';

-- AUTOINCREMENT: a number is never given twice, even after the newest events were deleted.
CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    details TEXT NOT NULL
);

CREATE INDEX events_by_run ON events (run, sequence);

-- One row for ever: an epoch must never be forgotten, or an old holder could write again.
CREATE TABLE lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);

INSERT INTO lease (id, holder, epoch, expires_at) VALUES (1, '', 0, 0);
