"""The tables of the store.

Items (the kinds of `domain.items`) have the key `(space_id, uuid)` and the hash of their canonical state; only
`store.space` writes them, and triggers (in the migrations) refuse anybody else. `text`, `state` and `blob`
are content-addressed: the key is the hash, rows are never changed. The rest are plain rows.
"""

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

space = Table(
    "space",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String, nullable=False),  # library | copy
    Column("origin", Integer),  # the space that a copy was made of
    Column("book", String),  # the one book of a copy
    Column("base", Integer),  # the position of `origin` when the copy was made
    Column("state", String, nullable=False),  # live | moving (filled or dropped in bulk) | dropped
    Column("created", Integer, nullable=False),
    # Whoever still names a dropped copy must not meet another one under its number.
    sqlite_autoincrement=True,
)

text = Table(
    "text",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("words", Integer, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_autoincrement=True,
)

state = Table(
    "state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("data", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)

blob = Table(
    "blob",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    # Before the bytes, so that it is read without them.
    Column("size", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)

change = Table(
    "change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("space_id", Integer, nullable=False),
    Column("book", String),
    Column("actor", String, nullable=False),
    Column("run", String),
    Column("call", String),
    Column("label", String, nullable=False),
    Column("undoes", Integer),
    Column("at", Integer, nullable=False),
    Index("ix_change_space_id_book_id", "space_id", "book", "id"),
    sqlite_autoincrement=True,
)

journal = Table(
    "journal",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("space_id", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("uuid", String, nullable=False),
    Column("before", LargeBinary),
    Column("after", LargeBinary),
    Column("change_id", Integer, ForeignKey("change.id"), nullable=False, index=True),
    Index("ix_journal_space_id_seq", "space_id", "seq"),
    Index("ix_journal_space_id_uuid_seq", "space_id", "uuid", "seq"),
    sqlite_autoincrement=True,
)

folder = Table(
    "folder",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("parent", String),
    Column("language", String, nullable=False),
    Column("pov", String, nullable=False),
    Column("tense", String, nullable=False),
    Column("style", String, nullable=False),
    Column("prompts", String),
    Column("model", String, nullable=False),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("hash", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "parent"], ["folder.space_id", "folder.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_folder_parent",
    ),
    Index("ix_folder_space_id_parent", "space_id", "parent"),
    sqlite_with_rowid=False,
)  # fmt: skip

lorebook = Table(
    "lorebook",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("enabled", Integer, nullable=False),
    Column("scan_depth", Integer, nullable=False),
    Column("tags", String),
    # Not a table of pairs, so that what stands below a lorebook is one field of it, merged and restored with it.
    Column("subbooks", String),
    Column("deleted", Integer),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

entry = Table(
    "entry",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("lorebook", String, nullable=False),
    Column("name", String, nullable=False),
    Column("text", LargeBinary),
    Column("comment", LargeBinary),
    Column("enabled", Integer, nullable=False),
    Column("constant", Integer, nullable=False),
    Column("order", Integer, nullable=False),
    Column("filter", String, nullable=False),
    Column("mode", String, nullable=False),
    Column("look_back", Integer, nullable=False),
    Column("first", Integer),
    Column("last", Integer),
    Column("tags", String),
    Column("negative_tags", String),
    Column("insertion", String, nullable=False),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("hash", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "lorebook"], ["lorebook.space_id", "lorebook.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_entry_lorebook",
    ),
    Index("ix_entry_space_id_lorebook", "space_id", "lorebook"),
    sqlite_with_rowid=False,
)  # fmt: skip

book = Table(
    "book",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("title", String, nullable=False),
    Column("author", String, nullable=False),
    Column("description", String, nullable=False),
    Column("language", String, nullable=False),
    Column("pov", String, nullable=False),
    Column("tense", String, nullable=False),
    Column("style", String, nullable=False),
    Column("active_leaf", String),
    Column("deleted", Integer),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("model", String),
    Column("opened", Integer),
    Column("hash", LargeBinary, nullable=False),
    Column("prompts", String),
    Column("tags", String),
    Column("folder", String),
    # No foreign key: SQLite adds none of two columns to a table that is there.
    Column("lorebook", String),
    Column("history_limit", Integer),
    Column("backup_changes", Integer),
    Column("backup_minutes", Integer),
    Column("cover", String),
    ForeignKeyConstraint(
        ["space_id", "active_leaf"], ["part.space_id", "part.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_book_active_leaf", use_alter=True,
    ),
    Index("ix_book_space_id_active_leaf", "space_id", "active_leaf"),
    Index("ix_book_space_id_lorebook", "space_id", "lorebook"),
    sqlite_with_rowid=False,
)  # fmt: skip

part = Table(
    "part",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("book", String, nullable=False),
    Column("parent", String),
    Column("created", Integer, nullable=False),
    Column("title", String, nullable=False),
    # No foreign key: its index stands in the order of hashes, and with it a copy costs twice as much, and more the
    # more books there are. The sweep looks before it deletes, and `integrity` looks at all.
    Column("text", LargeBinary),
    Column("instructions", String, nullable=False),
    Column("scene", String, nullable=False),
    Column("pov", String, nullable=False),
    Column("present", String, nullable=False),
    Column("attributes", String),
    Column("words", Integer, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("model", String, nullable=False, server_default=""),
    Column("images", String),
    ForeignKeyConstraint(
        ["space_id", "book"], ["book.space_id", "book.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_part_book",
    ),
    ForeignKeyConstraint(
        ["space_id", "parent"], ["part.space_id", "part.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_part_parent",
    ),
    Index("ix_part_space_id_parent", "space_id", "parent"),
    # In the order of the key, so that a copy only appends; covers the sums that the library shows for each book.
    Index("ix_part_space_id_book_uuid_words", "space_id", "book", "uuid", "words"),
    sqlite_with_rowid=False,
)  # fmt: skip

summary = Table(
    "summary",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("book", String, nullable=False),
    Column("part", String, nullable=False),
    Column("text", LargeBinary),
    Column("covered", String, nullable=False),
    # What it names may be gone: it then reaches as far as it can.
    Column("until", String),
    Column("meta", Integer, nullable=False),
    Column("under", String),
    Column("model", String, nullable=False),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("hash", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "part"], ["part.space_id", "part.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_summary_part",
    ),
    Index("ix_summary_space_id_part", "space_id", "part"),
    Index("ix_summary_space_id_book", "space_id", "book"),
    sqlite_with_rowid=False,
)  # fmt: skip

annotation = Table(
    "annotation",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("book", String, nullable=False),
    Column("part", String, nullable=False),
    Column("text", LargeBinary),
    Column("quote", LargeBinary),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("basis", LargeBinary),
    Column("type", String, nullable=False),
    Column("status", String, nullable=False),
    Column("to_prompt", Integer, nullable=False),
    Column("source", String, nullable=False),
    Column("model", String, nullable=False),
    Column("created", Integer, nullable=False),
    Column("attributes", String),
    Column("hash", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "part"], ["part.space_id", "part.uuid"], deferrable=True, initially="DEFERRED",
        name="fk_annotation_part",
    ),
    Index("ix_annotation_space_id_part", "space_id", "part"),
    Index("ix_annotation_space_id_book", "space_id", "book"),
    sqlite_with_rowid=False,
)  # fmt: skip

plan = Table(
    "plan",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("uuid", String, primary_key=True),
    Column("book", String, nullable=False),
    Column("steps", String, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

ITEM_TABLES: dict[str, Table] = {
    each.name: each for each in (folder, lorebook, entry, book, part, summary, annotation, plan)
}

draft = Table(
    "draft",
    metadata,
    Column("book", String, primary_key=True),
    Column("part", String, primary_key=True),
    Column("title", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("base", LargeBinary, nullable=False),  # the state of the part that the draft began from
    Column("at", Integer, nullable=False),
)

model = Table(
    "model",
    metadata,
    Column("name", String, primary_key=True),
    Column("definition", Text, nullable=False),  # JSON of domain.chat.ModelDefinition
    Column("created", Integer, nullable=False),
)

agent = Table(
    "agent",
    metadata,
    Column("uuid", String, primary_key=True),
    Column("book", String, nullable=False, index=True),
    Column("name", String, nullable=False, unique=True),
    Column("definition", Text, nullable=False),  # JSON of agent.definition.AgentDefinition
    Column("created", Integer, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uuid", String, nullable=False, unique=True),
    Column("agent", String, nullable=False, index=True),
    Column("agent_name", String, nullable=False),
    Column("book", String, nullable=False),
    Column("space_id", Integer),  # the working copy; null when it is dropped
    Column("status", String, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("attention", Integer, nullable=False, server_default="0"),
    Column("interactive", Integer, nullable=False, server_default="0"),
    Column("wish", String),  # of a PAUSING run: now; of a STOPPING one: keep | discard
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("worked_by", String),  # pid and host of the process that has the lease
    Column("rounds", Integer, nullable=False, server_default="0"),
    Column("prompt_tokens", Integer, nullable=False, server_default="0"),
    Column("completion_tokens", Integer, nullable=False, server_default="0"),
    Column("cached_tokens", Integer, nullable=False, server_default="0"),
    Column("context_tokens", Integer, nullable=False, server_default="0"),
    Column("cost", Float, nullable=False, server_default="0"),
    Column("always", Text, nullable=False, server_default="[]"),  # commands approved for the whole run
    Column("applied_from", String),  # the status that an apply ended
    Column("applied_change", Integer),
    Column("created", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("limits", Text, nullable=False, server_default="{}"),  # JSON: what was raised for this run
    Column("worked_ms", Integer, nullable=False, server_default="0"),  # milliseconds that it was worked
    Column("told", Integer, nullable=False, server_default="0"),  # the position up to which it knows the book
    Index("ix_run_book_status", "book", "status"),
)

message = Table(
    "message",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uuid", String, nullable=False, unique=True),
    Column("run", String, nullable=False),
    Column("thread", String, nullable=False, server_default=""),
    Column("ordinal", Integer, nullable=False),
    Column("role", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("reasoning", Text, nullable=False, server_default=""),
    Column("reasoning_field", String, nullable=False, server_default=""),
    Column("calls", Text, nullable=False, server_default="[]"),
    Column("call_id", String),
    Column("ok", Integer, nullable=False, server_default="1"),
    Column("notice", String),  # what kind of message of the studio it is; null: said by author or model
    Column("seconds", Float, nullable=False, server_default="0"),
    Column("created", Integer, nullable=False),
    Column("compacted", Integer, nullable=False, server_default="0"),  # a later summary stands for it
    Column("summary", Integer, nullable=False, server_default="0"),  # it stands for what was compacted
    Column("telemetry", Text),  # of an answer: JSON of domain.chat.Telemetry
    UniqueConstraint("run", "thread", "ordinal"),
    # One result for a call, whatever happens.
    UniqueConstraint("run", "thread", "call_id"),
    sqlite_autoincrement=True,
)

queue = Table(
    "queue",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run", String, nullable=False, index=True),
    Column("kind", String, nullable=False),  # author | command | resume | go-on | notice
    Column("text", Text, nullable=False),
    Column("created", Integer, nullable=False),
    Column("forced", Integer, nullable=False, server_default="0"),  # what goes on is cut off for it
    Column("began", Integer),  # a command that began to run and is not answered yet
    sqlite_autoincrement=True,
)

finding = Table(
    "finding",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uuid", String, nullable=False, unique=True),
    Column("run", String, nullable=False),
    Column("agent", String, nullable=False),
    Column("agent_name", String, nullable=False),
    Column("book", String, nullable=False, index=True),
    Column("call_id", String),
    Column("text", Text, nullable=False),
    Column("created", Integer, nullable=False),
    UniqueConstraint("run", "call_id"),
)
errand = Table(
    "errand",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String, nullable=False),  # webhook
    Column("run", String, nullable=False),
    Column("body", Text, nullable=False),  # JSON: what is sent, never where to
    Column("created", Integer, nullable=False),
    Column("began", Integer),  # one that began and did not end is never made again
    Column("ended", Integer),
    Column("outcome", Text, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)
approval = Table(
    "approval",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run", String, nullable=False),
    Column("call_id", String, nullable=False),
    Column("command", String, nullable=False),
    Column("arguments", Text, nullable=False),  # JSON, handles resolved
    Column("decision", String),  # approve | deny; null while it waits
    Column("why", Text, nullable=False, server_default=""),
    Column("created", Integer, nullable=False),
    UniqueConstraint("run", "call_id"),
)

handle = Table(
    "handle",
    metadata,
    Column("run", String, primary_key=True),
    Column("letter", String, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("uuid", String, nullable=False),
    UniqueConstraint("run", "uuid"),
    sqlite_with_rowid=False,
)

# Statistics. What they count is in the journal, and counted once: none of these is an item.

counted = Table(
    "counted",
    metadata,
    Column("id", Integer, primary_key=True),  # the one row is 1
    Column("position", Integer, nullable=False),  # of the journal, up to which changes are in the daily sums
)

# What went out of the journal (with a copy that was dropped, a book that was deleted for good) before it was counted.
uncounted = Table(
    "uncounted",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("space_id", Integer, nullable=False),
    Column("uuid", String, nullable=False),
    Column("before", LargeBinary),
    Column("after", LargeBinary),
    Column("change_id", Integer, nullable=False),
    Column("actor", String, nullable=False),
    Column("label", String, nullable=False),
    Column("undoes", Integer),
    Column("at", Integer, nullable=False),
)

daily = Table(
    "daily",
    metadata,
    Column("book", String, primary_key=True),
    Column("day", String, primary_key=True),  # 2026-03-14, in the zone in which it was counted
    Column("side", String, primary_key=True),  # me | agents
    Column("words_added", Integer, nullable=False),
    Column("words_deleted", Integer, nullable=False),
    Column("chars_added", Integer, nullable=False),
    Column("chars_deleted", Integer, nullable=False),
    Column("words_grown", Integer, nullable=False),
    Column("chars_grown", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Index("ix_daily_day", "day"),
    sqlite_with_rowid=False,
)

activity = Table(
    "activity",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String, nullable=False),  # open | editing | generating | running
    Column("side", String, nullable=False),
    Column("book", String, nullable=False),
    Column("began", Integer, nullable=False),
    Column("ended", Integer, nullable=False),  # an hour later at most: a longer stretch is several rows
    Index("ix_activity_began", "began"),
)

goal = Table(
    "goal",
    metadata,
    Column("book", String, primary_key=True),  # empty: words a day, whatever the book
    Column("since", String, primary_key=True),  # the day on which it was set; the newest holds
    Column("words", Integer, nullable=False),  # 0: none from then on
    Column("by", String),  # the last day for a book
    Column("start", Integer, nullable=False),  # the words of the book when it was set
    sqlite_with_rowid=False,
)
