CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,                      -- when, UTC
    actor TEXT NOT NULL,                   -- who did it
    assessor TEXT NOT NULL DEFAULT '',     -- whose judgement it changes; '' for the project itself
    topic TEXT NOT NULL DEFAULT '',
    document TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0,    -- of the judgement, after this event
    edit TEXT NOT NULL,                    -- what, as JSON
    text_sha256 TEXT NOT NULL DEFAULT '',  -- the text that the event speaks of
    key TEXT NOT NULL                      -- given by the client: the same key is the same event
);
CREATE UNIQUE INDEX IF NOT EXISTS events_key ON events (actor, key);
CREATE UNIQUE INDEX IF NOT EXISTS events_version ON events (assessor, topic, document, version) WHERE assessor != '';
CREATE TRIGGER IF NOT EXISTS events_are_kept BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_are_final BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TABLE IF NOT EXISTS judgements (
    assessor TEXT NOT NULL, topic TEXT NOT NULL, document TEXT NOT NULL,
    version INTEGER NOT NULL, status TEXT NOT NULL, flagged INTEGER NOT NULL, bep INTEGER, note TEXT NOT NULL,
    grades TEXT NOT NULL, text_sha256 TEXT NOT NULL, length INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (assessor, topic, document)
);
CREATE TABLE IF NOT EXISTS highlights (
    assessor TEXT NOT NULL, topic TEXT NOT NULL, document TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, quote TEXT NOT NULL,
    PRIMARY KEY (assessor, topic, document, start)
);
CREATE TABLE IF NOT EXISTS pool (
    topic TEXT NOT NULL, document TEXT NOT NULL,
    position INTEGER NOT NULL, runs INTEGER NOT NULL, best INTEGER NOT NULL,
    PRIMARY KEY (topic, document)
);
CREATE TABLE IF NOT EXISTS assignments (
    topic TEXT NOT NULL, document TEXT NOT NULL, assessor TEXT NOT NULL, PRIMARY KEY (topic, document, assessor)
);
CREATE TABLE IF NOT EXISTS assessors (name TEXT PRIMARY KEY, origin TEXT NOT NULL, source TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS model_exchanges (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL, assessor TEXT NOT NULL, topic TEXT NOT NULL, document TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,  -- the window of the document
    digest TEXT NOT NULL,                  -- of the question: the same question has the same digest
    request TEXT NOT NULL,                 -- as it was sent, without the key
    status INTEGER NOT NULL, reply TEXT NOT NULL,
    problem TEXT NOT NULL                  -- why the reply is no answer; '' where it is one
);
CREATE INDEX IF NOT EXISTS model_exchanges_of ON model_exchanges (assessor, topic, document, digest);
