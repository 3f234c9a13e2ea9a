"""Runs that last: rows that a summary stands for, telemetry, limits of one run, findings, errands."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = """
ALTER TABLE message ADD COLUMN compacted INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE message ADD COLUMN summary INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE message ADD COLUMN telemetry TEXT;

ALTER TABLE run ADD COLUMN limits TEXT DEFAULT '{}' NOT NULL;
ALTER TABLE run ADD COLUMN worked_ms INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE run ADD COLUMN told INTEGER DEFAULT '0' NOT NULL;

ALTER TABLE queue ADD COLUMN forced INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE queue ADD COLUMN began INTEGER;

CREATE TABLE finding (
    id INTEGER NOT NULL PRIMARY KEY,
    uuid VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    agent_name VARCHAR NOT NULL,
    book VARCHAR NOT NULL,
    call_id VARCHAR,
    text TEXT NOT NULL,
    created INTEGER NOT NULL,
    CONSTRAINT uq_finding_uuid UNIQUE (uuid),
    CONSTRAINT uq_finding_run_call_id UNIQUE (run, call_id)
);
CREATE INDEX ix_finding_book ON finding (book);

CREATE TABLE errand (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind VARCHAR NOT NULL,
    run VARCHAR NOT NULL,
    body TEXT NOT NULL,
    created INTEGER NOT NULL,
    began INTEGER,
    ended INTEGER,
    outcome TEXT DEFAULT '' NOT NULL
)
"""


def upgrade() -> None:
    connection = op.get_bind()
    for statement in TABLES.split(";\n"):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise RuntimeError("a store is never downgraded: restore the backup that was made before the upgrade")
