"""What a book holds beside its parts: folders, lorebooks with entries, summaries, annotations."""

from alembic import op

from marginalia_tui.store.migrations.guards import guard

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE folder (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    parent VARCHAR,
    language VARCHAR NOT NULL,
    pov VARCHAR NOT NULL,
    tense VARCHAR NOT NULL,
    style VARCHAR NOT NULL,
    prompts VARCHAR,
    model VARCHAR NOT NULL,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    hash BLOB NOT NULL,
    CONSTRAINT pk_folder PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_folder_parent FOREIGN KEY(space_id, parent) REFERENCES folder (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_folder_space_id_parent ON folder (space_id, parent);

CREATE TABLE lorebook (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    enabled INTEGER NOT NULL,
    scan_depth INTEGER NOT NULL,
    tags VARCHAR,
    subbooks VARCHAR,
    deleted INTEGER,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    hash BLOB NOT NULL,
    CONSTRAINT pk_lorebook PRIMARY KEY (space_id, uuid)
)
 WITHOUT ROWID;

CREATE TABLE entry (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    lorebook VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    text BLOB,
    comment BLOB,
    enabled INTEGER NOT NULL,
    constant INTEGER NOT NULL,
    "order" INTEGER NOT NULL,
    filter VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    look_back INTEGER NOT NULL,
    first INTEGER,
    last INTEGER,
    tags VARCHAR,
    negative_tags VARCHAR,
    insertion VARCHAR NOT NULL,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    hash BLOB NOT NULL,
    CONSTRAINT pk_entry PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_entry_lorebook FOREIGN KEY(space_id, lorebook) REFERENCES lorebook (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_entry_space_id_lorebook ON entry (space_id, lorebook);

CREATE TABLE summary (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    part VARCHAR NOT NULL,
    text BLOB,
    covered VARCHAR NOT NULL,
    until VARCHAR,
    meta INTEGER NOT NULL,
    under VARCHAR,
    model VARCHAR NOT NULL,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    hash BLOB NOT NULL,
    CONSTRAINT pk_summary PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_summary_part FOREIGN KEY(space_id, part) REFERENCES part (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_summary_space_id_book ON summary (space_id, book);

CREATE INDEX ix_summary_space_id_part ON summary (space_id, part);

CREATE TABLE annotation (
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    part VARCHAR NOT NULL,
    text BLOB,
    quote BLOB,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    basis BLOB,
    type VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    to_prompt INTEGER NOT NULL,
    source VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    created INTEGER NOT NULL,
    attributes VARCHAR,
    hash BLOB NOT NULL,
    CONSTRAINT pk_annotation PRIMARY KEY (space_id, uuid),
    CONSTRAINT fk_annotation_part FOREIGN KEY(space_id, part) REFERENCES part (space_id, uuid)
        DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE INDEX ix_annotation_space_id_book ON annotation (space_id, book);

CREATE INDEX ix_annotation_space_id_part ON annotation (space_id, part);

ALTER TABLE book ADD COLUMN prompts VARCHAR;
ALTER TABLE book ADD COLUMN tags VARCHAR;
ALTER TABLE book ADD COLUMN folder VARCHAR;
ALTER TABLE book ADD COLUMN lorebook VARCHAR;
ALTER TABLE book ADD COLUMN history_limit INTEGER;
ALTER TABLE book ADD COLUMN backup_changes INTEGER;
ALTER TABLE book ADD COLUMN backup_minutes INTEGER;
CREATE INDEX ix_book_space_id_lorebook ON book (space_id, lorebook);
ALTER TABLE part ADD COLUMN model VARCHAR DEFAULT '' NOT NULL;
DROP TRIGGER book_update_guard;
DROP TRIGGER part_update_guard;
"""

STATE_COLUMNS = {
    "folder": "name, parent, language, pov, tense, style, prompts, model, created, attributes",
    "lorebook": "name, enabled, scan_depth, tags, subbooks, deleted, created, attributes",
    "entry": 'lorebook, name, text, comment, enabled, constant, "order", filter, mode, look_back, first, last, tags,'
    " negative_tags, insertion, created, attributes",
    "summary": "book, part, text, covered, until, meta, under, model, created, attributes",
    "annotation": 'book, part, text, quote, start, "end", basis, type, status, to_prompt, source, model, created,'
    " attributes",
}
CHANGED_COLUMNS = {
    "book": "title, author, description, language, pov, tense, style, prompts, tags, folder, lorebook, active_leaf,"
    " history_limit, backup_changes, backup_minutes, deleted, created, attributes, model",
    "part": "book, parent, created, title, text, instructions, scene, pov, present, model, attributes",
}

# As in the first migration: how the tables of a large library are filled.
FIGURES = {
    ("entry", "entry"): "20000 10000 1",
    ("entry", "ix_entry_space_id_lorebook"): "20000 10000 500 1",
    ("summary", "summary"): "5000 2500 1",
    ("summary", "ix_summary_space_id_book"): "5000 2500 50 1",
    ("summary", "ix_summary_space_id_part"): "5000 2500 1 1",
    ("annotation", "annotation"): "20000 10000 1",
    ("annotation", "ix_annotation_space_id_book"): "20000 10000 200 1",
    ("annotation", "ix_annotation_space_id_part"): "20000 10000 4 1",
}


def upgrade() -> None:
    connection = op.get_bind()
    statements = [each for each in TABLES.split(";\n") if each.strip()]
    for table, columns in STATE_COLUMNS.items():
        statements += guard(table, columns)
    for table, columns in CHANGED_COLUMNS.items():
        statements += [each for each in guard(table, columns) if f"{table}_update_guard" in each]
    for statement in statements:
        connection.exec_driver_sql(statement)
    for (table, index), figures in FIGURES.items():
        connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, figures))
    # This connection reads them too.
    connection.exec_driver_sql("ANALYZE sqlite_schema")


def downgrade() -> None:
    raise RuntimeError("a store is never downgraded: restore the backup that was made before the upgrade")
