-- What is rented costs money: which offers are blocked, what machines cost, and since when.

ALTER TABLE runs ADD COLUMN market TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN spent_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN race_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE claims ADD COLUMN usd_per_h DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE claims ADD COLUMN expires_at DOUBLE PRECISION;
ALTER TABLE claims ADD COLUMN refused TEXT NOT NULL DEFAULT '';
ALTER TABLE claims ADD COLUMN held_from DOUBLE PRECISION;
ALTER TABLE claims ADD COLUMN held_until DOUBLE PRECISION;
ALTER TABLE claims ADD COLUMN is_extra BOOLEAN NOT NULL DEFAULT FALSE;

-- No reference to runs: what was spent stays spent when its run is removed.
CREATE TABLE charges (
    claim TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    team TEXT NOT NULL,
    env TEXT NOT NULL,
    offer TEXT NOT NULL,
    buy TEXT NOT NULL,
    usd_per_h DOUBLE PRECISION NOT NULL,
    from_at DOUBLE PRECISION NOT NULL,
    until_at DOUBLE PRECISION,
    is_extra BOOLEAN NOT NULL
);

CREATE INDEX charges_by_run ON charges (run);
CREATE INDEX charges_by_end ON charges (until_at);
