-- +goose Up

-- The tokens that a call took: as the server counts them, or counted and estimated here (see Call.Used).
-- NULL for calls of before.
ALTER TABLE call ADD COLUMN used_prompt INTEGER;
ALTER TABLE call ADD COLUMN used_cached INTEGER;
ALTER TABLE call ADD COLUMN used_generated INTEGER;

-- That of HTTP; 0 if there was none.
ALTER TABLE attempt ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
