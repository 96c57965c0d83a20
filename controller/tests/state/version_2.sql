-- The state as phb made it before PostgreSQL, schema version 2.
CREATE TABLE switch (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    device_id TEXT NOT NULL,  -- SQLite's integers have a sign, P4Runtime's device ids have 64 bits
    UNIQUE (address, device_id)
) STRICT;
CREATE TABLE content (
    digest TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE push (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    switch INTEGER NOT NULL REFERENCES switch,
    name TEXT,
    command TEXT NOT NULL,
    user TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    duration_s REAL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    format TEXT,
    dialect TEXT,
    target TEXT,
    inserted INTEGER NOT NULL DEFAULT 0,
    modified INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    digest TEXT NOT NULL DEFAULT '',
    names TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX push_of_switch ON push (switch, number);
CREATE TABLE push_file (
    push INTEGER NOT NULL REFERENCES push ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    format TEXT,
    content TEXT NOT NULL REFERENCES content,
    PRIMARY KEY (push, position)
) STRICT;
CREATE TABLE lock (
    switch INTEGER PRIMARY KEY REFERENCES switch,
    token TEXT NOT NULL,
    command TEXT NOT NULL,
    user TEXT NOT NULL,
    host TEXT NOT NULL,
    system TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start INTEGER NOT NULL,
    since TEXT NOT NULL
) STRICT;
PRAGMA application_id = 0x70686231;
PRAGMA user_version = 2;
