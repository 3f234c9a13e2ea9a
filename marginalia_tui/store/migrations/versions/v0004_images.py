"""Images: their bytes under their hash, and the items that have some."""

from alembic import op

from marginalia_tui.store.migrations.guards import guard

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE blob (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    body BLOB NOT NULL,
    CONSTRAINT uq_blob_hash UNIQUE (hash)
);

ALTER TABLE book ADD COLUMN cover VARCHAR;
ALTER TABLE part ADD COLUMN images VARCHAR;
DROP TRIGGER book_update_guard;
DROP TRIGGER part_update_guard
"""

CHANGED_COLUMNS = {
    "book": "title, author, description, language, pov, tense, style, prompts, tags, folder, lorebook, active_leaf,"
    " history_limit, backup_changes, backup_minutes, cover, deleted, created, attributes, model",
    "part": "book, parent, created, title, text, instructions, scene, pov, present, model, images, attributes",
}


def upgrade() -> None:
    connection = op.get_bind()
    statements = TABLES.split(";\n")
    for table, columns in CHANGED_COLUMNS.items():
        statements += [each for each in guard(table, columns) if f"{table}_update_guard" in each]
    for statement in statements:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise RuntimeError("a store is never downgraded: restore the backup that was made before the upgrade")
