-- What a claim was for and how fast its gang went: what plans learn from one's own runs.

ALTER TABLE claims ADD COLUMN offer TEXT NOT NULL DEFAULT '';
ALTER TABLE claims ADD COLUMN buy TEXT NOT NULL DEFAULT '';
ALTER TABLE claims ADD COLUMN accelerators TEXT NOT NULL DEFAULT '';
ALTER TABLE claims ADD COLUMN nodes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN step_s DOUBLE PRECISION;

-- Runs that rented nothing cost a plan nothing, however many there are.
CREATE INDEX claims_rented ON claims (run, attempt) WHERE offer <> '';
