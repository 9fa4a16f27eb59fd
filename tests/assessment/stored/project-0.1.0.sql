BEGIN TRANSACTION;
CREATE TABLE assessors (name TEXT PRIMARY KEY, origin TEXT NOT NULL, source TEXT NOT NULL);
INSERT INTO "assessors" VALUES('ann','person','');
INSERT INTO "assessors" VALUES('bob','person','');
CREATE TABLE assignments (
    topic TEXT NOT NULL, document TEXT NOT NULL, assessor TEXT NOT NULL, PRIMARY KEY (topic, document, assessor)
);
INSERT INTO "assignments" VALUES('101','water/tide','ann');
INSERT INTO "assignments" VALUES('101','water/tide','bob');
INSERT INTO "assignments" VALUES('101','water/rock-pool','bob');
INSERT INTO "assignments" VALUES('101','water/rock-pool','ann');
CREATE TABLE events (
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
INSERT INTO "events" VALUES(1,'2026-11-15T22:56:33.870+00:00','focuseval','','','',0,'{"kind": "pool", "rows": [["101", "water/tide", 0, 1, 1], ["101", "water/rock-pool", 1, 1, 2]]}','','773778654eca425c876aef87d6b3b935');
INSERT INTO "events" VALUES(2,'2026-11-15T22:56:33.871+00:00','ann','','','',0,'{"kind": "assessor", "name": "ann", "origin": "person", "source": ""}','','703cae458aeb4571b05a675b3b67f618');
INSERT INTO "events" VALUES(3,'2026-11-15T22:56:33.874+00:00','bob','','','',0,'{"kind": "assessor", "name": "bob", "origin": "person", "source": ""}','','4df67dddfdea4496ad8d54659f7807ea');
INSERT INTO "events" VALUES(4,'2026-11-15T22:56:33.880+00:00','lea','','','',0,'{"kind": "assign", "rows": [["101", "water/tide", "ann"], ["101", "water/tide", "bob"], ["101", "water/rock-pool", "bob"], ["101", "water/rock-pool", "ann"]]}','','7de1d651752443ae89680d7d593aface');
INSERT INTO "events" VALUES(5,'2026-11-15T22:56:33.893+00:00','ann','ann','101','water/tide',1,'{"kind": "highlight", "start": 100, "end": 200, "quote": "p twice and goes down twice in a little more than a day; on a few, such as parts of the Gulf of Mexi"}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t1');
INSERT INTO "events" VALUES(6,'2026-11-15T22:56:33.898+00:00','ann','ann','101','water/tide',2,'{"kind": "finish", "relevant": true}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t2');
INSERT INTO "events" VALUES(7,'2026-11-15T22:56:33.905+00:00','bob','bob','101','water/tide',1,'{"kind": "highlight", "start": 150, "end": 250, "quote": "a day; on a few, such as parts of the Gulf of Mexico, it does so only once. For a sailor the tide is"}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t1');
INSERT INTO "events" VALUES(8,'2026-11-15T22:56:33.914+00:00','bob','bob','101','water/tide',2,'{"kind": "finish", "relevant": true}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t2');
INSERT INTO "events" VALUES(9,'2026-11-15T22:56:33.920+00:00','bob','bob','101','water/rock-pool',1,'{"kind": "finish", "relevant": false}','ee9762922a5e4f6cbb144a04940d9c3003e06be940a4be462bcc18290acc0396','t3');
INSERT INTO "events" VALUES(10,'2026-11-15T22:56:33.927+00:00','ann','ann','101','water/rock-pool',1,'{"kind": "note", "text": "later"}','ee9762922a5e4f6cbb144a04940d9c3003e06be940a4be462bcc18290acc0396','t3');
INSERT INTO "events" VALUES(11,'2026-11-15T22:56:33.935+00:00','lea','adjudicated','101','water/tide',1,'{"kind": "highlight", "start": 150, "end": 200, "quote": "a day; on a few, such as parts of the Gulf of Mexi"}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t1');
INSERT INTO "events" VALUES(12,'2026-11-15T22:56:33.942+00:00','lea','adjudicated','101','water/tide',2,'{"kind": "finish", "relevant": true}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c','t2');
CREATE TABLE highlights (
    assessor TEXT NOT NULL, topic TEXT NOT NULL, document TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, quote TEXT NOT NULL,
    PRIMARY KEY (assessor, topic, document, start)
);
INSERT INTO "highlights" VALUES('ann','101','water/tide',100,200,'p twice and goes down twice in a little more than a day; on a few, such as parts of the Gulf of Mexi');
INSERT INTO "highlights" VALUES('bob','101','water/tide',150,250,'a day; on a few, such as parts of the Gulf of Mexico, it does so only once. For a sailor the tide is');
INSERT INTO "highlights" VALUES('adjudicated','101','water/tide',150,200,'a day; on a few, such as parts of the Gulf of Mexi');
CREATE TABLE judgements (
    assessor TEXT NOT NULL, topic TEXT NOT NULL, document TEXT NOT NULL,
    version INTEGER NOT NULL, status TEXT NOT NULL, flagged INTEGER NOT NULL, bep INTEGER, note TEXT NOT NULL,
    grades TEXT NOT NULL, text_sha256 TEXT NOT NULL, length INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (assessor, topic, document)
);
INSERT INTO "judgements" VALUES('ann','101','water/tide',2,'relevant',0,NULL,'','{}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c',2898,'2026-11-15T22:56:33.898+00:00');
INSERT INTO "judgements" VALUES('bob','101','water/tide',2,'relevant',0,NULL,'','{}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c',2898,'2026-11-15T22:56:33.914+00:00');
INSERT INTO "judgements" VALUES('bob','101','water/rock-pool',1,'not relevant',0,NULL,'','{}','ee9762922a5e4f6cbb144a04940d9c3003e06be940a4be462bcc18290acc0396',2217,'2026-11-15T22:56:33.920+00:00');
INSERT INTO "judgements" VALUES('ann','101','water/rock-pool',1,'todo',0,NULL,'later','{}','ee9762922a5e4f6cbb144a04940d9c3003e06be940a4be462bcc18290acc0396',2217,'2026-11-15T22:56:33.927+00:00');
INSERT INTO "judgements" VALUES('adjudicated','101','water/tide',2,'relevant',0,NULL,'','{}','9d78422a071bf6f9e28a30afa463b90ba249c336513b47de2e03714306d94e2c',2898,'2026-11-15T22:56:33.942+00:00');
CREATE TABLE pool (
    topic TEXT NOT NULL, document TEXT NOT NULL,
    position INTEGER NOT NULL, runs INTEGER NOT NULL, best INTEGER NOT NULL,
    PRIMARY KEY (topic, document)
);
INSERT INTO "pool" VALUES('101','water/tide',0,1,1);
INSERT INTO "pool" VALUES('101','water/rock-pool',1,1,2);
CREATE UNIQUE INDEX events_key ON events (actor, key);
CREATE UNIQUE INDEX events_version ON events (assessor, topic, document, version) WHERE assessor != '';
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_final BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',12);
COMMIT;
PRAGMA user_version=1;
