-- A run belongs to the cloud that it was submitted to, and so does what it cost.

ALTER TABLE runs ADD COLUMN cloud TEXT NOT NULL DEFAULT '';
ALTER TABLE charges ADD COLUMN cloud TEXT NOT NULL DEFAULT '';
