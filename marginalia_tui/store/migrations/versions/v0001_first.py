"""The first schema: spaces, the journal, the items, agents and their runs."""

from alembic import op

from marginalia_tui.store.migrations.guards import guard

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE space (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind VARCHAR NOT NULL,
    origin INTEGER,
    book VARCHAR,
    base INTEGER,
    state VARCHAR NOT NULL,
    created INTEGER NOT NULL
);

CREATE TABLE text (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    words INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT uq_text_hash UNIQUE (hash)
);

CREATE TABLE state (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    data BLOB NOT NULL,
    CONSTRAINT uq_state_hash UNIQUE (hash)
);

CREATE TABLE change (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL,
    book VARCHAR,
    actor VARCHAR NOT NULL,
    run VARCHAR,
    call VARCHAR,
    label VARCHAR NOT NULL,
    undoes INTEGER,
    at INTEGER NOT NULL
);

CREATE INDEX ix_change_space_id_book_id ON change (space_id, book, id);

CREATE TABLE journal (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    uuid VARCHAR NOT NULL,
    "before" BLOB,
    "after" BLOB,
    change_id INTEGER NOT NULL,
    CONSTRAINT fk_journal_change_id FOREIGN KEY(change_id) REFERENCES change (id)
);

CREATE INDEX ix_journal_change_id ON journal (change_id);

CREATE INDEX ix_journal_space_id_seq ON journal (space_id, seq);

CREATE INDEX ix_journal_space_id_uuid_seq ON journal (space_id, uuid, seq);

CREATE TABLE book (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    author VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    pov VARCHAR NOT NULL,
    tense VARCHAR NOT NULL,
    style VARCHAR NOT NULL,
    active_leaf VARCHAR,
    deleted INTEGER,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    model VARCHAR,
    opened INTEGER,
    hash BLOB NOT NULL,
    CONSTRAINT pk_book PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_book_active_leaf FOREIGN KEY(space_id, active_leaf) REFERENCES part (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_book_space_id_active_leaf ON book (space_id, active_leaf);

CREATE TABLE part (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    parent VARCHAR,
    created INTEGER NOT NULL,
    title VARCHAR NOT NULL,
    text BLOB,
    instructions VARCHAR NOT NULL,
    scene VARCHAR NOT NULL,
    pov VARCHAR NOT NULL,
    present VARCHAR NOT NULL,
    attributes VARCHAR,
    words INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    hash BLOB NOT NULL,
    CONSTRAINT pk_part PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_part_book FOREIGN KEY(space_id, book) REFERENCES book (space_id, uuid) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT fk_part_parent FOREIGN KEY(space_id, parent) REFERENCES part (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_part_space_id_book_uuid_words ON part (space_id, book, uuid, words);

CREATE INDEX ix_part_space_id_parent ON part (space_id, parent);

CREATE TABLE "plan" (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    steps VARCHAR NOT NULL,
    hash BLOB NOT NULL,
    CONSTRAINT pk_plan PRIMARY KEY (space_id, uuid)
)
 WITHOUT ROWID;

CREATE TABLE draft (
    book VARCHAR NOT NULL,
    part VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    text TEXT NOT NULL,
    base BLOB NOT NULL,
    at INTEGER NOT NULL,
    CONSTRAINT pk_draft PRIMARY KEY (book, part)
);

CREATE TABLE model (
    name VARCHAR NOT NULL,
    definition TEXT NOT NULL,
    created INTEGER NOT NULL,
    CONSTRAINT pk_model PRIMARY KEY (name)
);

CREATE TABLE agent (
    uuid VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    definition TEXT NOT NULL,
    created INTEGER NOT NULL,
    CONSTRAINT pk_agent PRIMARY KEY (uuid),
    CONSTRAINT uq_agent_name UNIQUE (name)
);

CREATE INDEX ix_agent_book ON agent (book);

CREATE TABLE run (
    id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    agent_name VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    space_id INTEGER,
    status VARCHAR NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    attention INTEGER DEFAULT '0' NOT NULL,
    interactive INTEGER DEFAULT '0' NOT NULL,
    wish VARCHAR,
    epoch INTEGER DEFAULT '0' NOT NULL,
    worked_by VARCHAR,
    rounds INTEGER DEFAULT '0' NOT NULL,
    prompt_tokens INTEGER DEFAULT '0' NOT NULL,
    completion_tokens INTEGER DEFAULT '0' NOT NULL,
    cached_tokens INTEGER DEFAULT '0' NOT NULL,
    context_tokens INTEGER DEFAULT '0' NOT NULL,
    cost FLOAT DEFAULT '0' NOT NULL,
    always TEXT DEFAULT '[]' NOT NULL,
    applied_from VARCHAR,
    applied_change INTEGER,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT uq_run_uuid UNIQUE (uuid)
);

CREATE INDEX ix_run_agent ON run (agent);

CREATE INDEX ix_run_book_status ON run (book, status);

CREATE TABLE message (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    uuid VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    thread VARCHAR DEFAULT '' NOT NULL,
    ordinal INTEGER NOT NULL,
    role VARCHAR NOT NULL,
    text TEXT NOT NULL,
    reasoning TEXT DEFAULT '' NOT NULL,
    reasoning_field VARCHAR DEFAULT '' NOT NULL,
    calls TEXT DEFAULT '[]' NOT NULL,
    call_id VARCHAR,
    ok INTEGER DEFAULT '1' NOT NULL,
    notice VARCHAR,
    seconds FLOAT DEFAULT '0' NOT NULL,
    created INTEGER NOT NULL,
    CONSTRAINT uq_message_run_thread_ordinal UNIQUE (run, thread, ordinal),
    CONSTRAINT uq_message_run_thread_call_id UNIQUE (run, thread, call_id),
    CONSTRAINT uq_message_uuid UNIQUE (uuid)
);

CREATE TABLE queue (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    text TEXT NOT NULL,
    created INTEGER NOT NULL
);

CREATE INDEX ix_queue_run ON queue (run);

CREATE TABLE approval (
    id INTEGER NOT NULL,
    run VARCHAR NOT NULL,
    call_id VARCHAR NOT NULL,
    command VARCHAR NOT NULL,
    arguments TEXT NOT NULL,
    decision VARCHAR,
    why TEXT DEFAULT '' NOT NULL,
    created INTEGER NOT NULL,
    CONSTRAINT pk_approval PRIMARY KEY (id),
    CONSTRAINT uq_approval_run_call_id UNIQUE (run, call_id)
);

CREATE TABLE handle (
    run VARCHAR NOT NULL,
    letter VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    CONSTRAINT pk_handle PRIMARY KEY (run, letter, number),
    CONSTRAINT uq_handle_run_uuid UNIQUE (run, uuid)
)
 WITHOUT ROWID;

"""

STATE_COLUMNS = {
    "book": "title, author, description, language, pov, tense, style, active_leaf, deleted, created, attributes, model",
    "part": "book, parent, created, title, text, instructions, scene, pov, present, attributes",
    "plan": "book, steps",
}

# What happened, and what the hashes stand for, is never rewritten; the journal of a copy goes with it.
KEPT = """
CREATE TRIGGER text_guard BEFORE UPDATE ON text
BEGIN SELECT RAISE(ABORT, 'a text is never rewritten'); END;

CREATE TRIGGER state_guard BEFORE UPDATE ON state
BEGIN SELECT RAISE(ABORT, 'a state is never rewritten'); END;

CREATE TRIGGER journal_update_guard BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is never rewritten'); END;

CREATE TRIGGER journal_delete_guard BEFORE DELETE ON journal
WHEN (SELECT state FROM space WHERE id = OLD.space_id) IS NOT 'moving'
BEGIN SELECT RAISE(ABORT, 'the journal is never rewritten'); END;
"""

# SQLite takes a space for a handful of rows unless it is told how the tables are filled, and then walks the whole
# library to find the parts of one book. These are the figures of a large library as ANALYZE would write them: rows,
# then rows that share the first column, the first two and so on. Nobody runs ANALYZE later, so that a query is
# planned in the same way in every store.
FIGURES = {
    ("part", "part"): "100000 50000 1",
    ("part", "ix_part_space_id_book_uuid_words"): "100000 50000 1000 1 1",
    ("part", "ix_part_space_id_parent"): "100000 50000 2",
    ("journal", "ix_journal_change_id"): "200000 10",
    ("journal", "ix_journal_space_id_seq"): "200000 100000 1",
    ("journal", "ix_journal_space_id_uuid_seq"): "200000 100000 5 1",
    ("change", "ix_change_space_id_book_id"): "20000 10000 1000 1",
}


def upgrade() -> None:
    connection = op.get_bind()
    statements = [*TABLES.split(";\n"), *(each + "END" for each in KEPT.split("END;\n"))]
    for table, columns in STATE_COLUMNS.items():
        statements += guard(table, columns)
    for statement in statements:
        if statement.strip() not in ("", "END"):
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql(
        "INSERT INTO space (id, kind, state, created)"
        " VALUES (1, 'library', 'live', CAST(strftime('%s', 'now') AS INTEGER) * 1000000)"
    )
    connection.exec_driver_sql("ANALYZE")
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    for (table, index), figures in FIGURES.items():
        connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, figures))
    # This connection reads them too.
    connection.exec_driver_sql("ANALYZE sqlite_schema")


def downgrade() -> None:
    raise RuntimeError("a store is never downgraded: restore the backup that was made before the upgrade")
