-- +goose Up

-- Who was asked: the declared identity as JSON, as it is in the key.
CREATE TABLE model (
    id       INTEGER PRIMARY KEY,
    identity TEXT    NOT NULL UNIQUE
) STRICT;

-- What texts of a purpose are compressed against, besides the dictionary that is part of the
-- program and has number 1: the latest serves new texts, the others those that were written with them.
CREATE TABLE dictionary (
    id      INTEGER PRIMARY KEY CHECK (id > 1),
    purpose TEXT    NOT NULL, -- prompt, ids
    content BLOB    NOT NULL
) STRICT;

-- The text that was asked, once, however many samples were drawn or answers scored after it:
-- the prompt as JSON, packed, and the first 16 bytes of the SHA-256 of that JSON.
CREATE TABLE request (
    id     INTEGER PRIMARY KEY,
    hash   BLOB    NOT NULL UNIQUE,
    prompt BLOB    NOT NULL
) STRICT;

-- The rest of a request as JSON: all but prompt, answer, seed and sample. A study has a handful.
CREATE TABLE decoding (
    id       INTEGER PRIMARY KEY,
    declared TEXT    NOT NULL UNIQUE
) STRICT;

-- The token ids that a model made of a prompt. Equal for all calls with this prompt, but for
-- engines that are not to be trusted.
CREATE TABLE prefix (
    id         INTEGER PRIMARY KEY,
    request_id INTEGER NOT NULL REFERENCES request,
    model_id   INTEGER NOT NULL REFERENCES model,
    ids        BLOB    NOT NULL -- packed; see encode.go
) STRICT;
CREATE INDEX prefix_of ON prefix (request_id, model_id);

-- What a server said of itself with a reply, as JSON.
CREATE TABLE observed (
    id   INTEGER PRIMARY KEY,
    said TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE call (
    id          INTEGER PRIMARY KEY,
    key         BLOB    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL,
    model_id    INTEGER NOT NULL REFERENCES model,
    request_id  INTEGER NOT NULL REFERENCES request,
    decoding_id INTEGER NOT NULL REFERENCES decoding,
    answer      BLOB,             -- packed; the text that was scored
    seed        INTEGER NOT NULL, -- the bits of an unsigned number
    sample      INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    finish      TEXT    NOT NULL,
    prefix_id   INTEGER REFERENCES prefix,
    observed_id INTEGER REFERENCES observed,
    asked       INTEGER NOT NULL, -- Unix time in milliseconds
    took        INTEGER NOT NULL, -- microseconds
    reply       BLOB    NOT NULL  -- tokens, log-probabilities, text; see encode.go
) STRICT;

-- A call that brought no reply.
CREATE TABLE attempt (
    id       INTEGER PRIMARY KEY,
    key      BLOB    NOT NULL,
    kind     TEXT    NOT NULL,
    model_id INTEGER NOT NULL REFERENCES model,
    asked    INTEGER NOT NULL,
    took     INTEGER NOT NULL,
    error    TEXT    NOT NULL
) STRICT;
CREATE INDEX attempt_of ON attempt (key);

-- A call that is being made: by whom, and until when others wait.
CREATE TABLE claim (
    key     BLOB    PRIMARY KEY,
    owner   TEXT    NOT NULL,
    expires INTEGER NOT NULL -- Unix time in milliseconds
) STRICT, WITHOUT ROWID;
