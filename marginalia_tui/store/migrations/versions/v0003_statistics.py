"""What the statistics count: daily sums, how far the journal is counted, stretches of time, goals."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE counted (
    id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    CONSTRAINT pk_counted PRIMARY KEY (id)
);

CREATE TABLE uncounted (
    seq INTEGER NOT NULL,
    space_id INTEGER NOT NULL,
    uuid VARCHAR NOT NULL,
    "before" BLOB,
    "after" BLOB,
    change_id INTEGER NOT NULL,
    actor VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    undoes INTEGER,
    at INTEGER NOT NULL,
    CONSTRAINT pk_uncounted PRIMARY KEY (seq)
);

CREATE TABLE daily (
    book VARCHAR NOT NULL,
    day VARCHAR NOT NULL,
    side VARCHAR NOT NULL,
    words_added INTEGER NOT NULL,
    words_deleted INTEGER NOT NULL,
    chars_added INTEGER NOT NULL,
    chars_deleted INTEGER NOT NULL,
    words_grown INTEGER NOT NULL,
    chars_grown INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    CONSTRAINT pk_daily PRIMARY KEY (book, day, side)
)
 WITHOUT ROWID;

CREATE INDEX ix_daily_day ON daily (day);

CREATE TABLE activity (
    id INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    side VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    CONSTRAINT pk_activity PRIMARY KEY (id)
);

CREATE INDEX ix_activity_began ON activity (began);

CREATE TABLE goal (
    book VARCHAR NOT NULL,
    since VARCHAR NOT NULL,
    words INTEGER NOT NULL,
    "by" VARCHAR,
    start INTEGER NOT NULL,
    CONSTRAINT pk_goal PRIMARY KEY (book, since)
)
 WITHOUT ROWID;

INSERT INTO counted (id, position) VALUES (1, 0)
"""

# As in the first migration: how the tables of a large library are filled.
FIGURES = {
    ("daily", "daily"): "20000 400 2 1",
    ("daily", "ix_daily_day"): "20000 20",
    ("activity", "ix_activity_began"): "50000 1",
}


def upgrade() -> None:
    connection = op.get_bind()
    for statement in TABLES.split(";\n"):
        connection.exec_driver_sql(statement)
    for (table, index), figures in FIGURES.items():
        connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, figures))
    # This connection reads them too.
    connection.exec_driver_sql("ANALYZE sqlite_schema")


def downgrade() -> None:
    raise RuntimeError("a store is never downgraded: restore the backup that was made before the upgrade")
