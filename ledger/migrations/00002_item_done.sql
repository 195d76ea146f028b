-- +goose Up

-- What is asked of every item of one setting in one stage: the first 16 bytes of a SHA-256 over all that decides it.
CREATE TABLE scope (
    id   INTEGER PRIMARY KEY,
    hash BLOB    NOT NULL UNIQUE
) STRICT;

-- An item of which a scope has asked everything: all of its calls are here. A mark answers nothing; the calls do.
CREATE TABLE item_done (
    scope_id INTEGER NOT NULL REFERENCES scope,
    item     BLOB    NOT NULL, -- the first 16 bytes of a SHA-256 over the item
    digest   BLOB    NOT NULL, -- the first 16 bytes of a SHA-256 over the keys of its calls, in order
    complete INTEGER NOT NULL, -- 1 where no value was missing
    PRIMARY KEY (scope_id, item)
) STRICT, WITHOUT ROWID;
