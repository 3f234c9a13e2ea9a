"""The triggers of an item table, as every migration writes them.

An item row changes only beside a journal row that names its new state. A space that is filled or dropped in bulk
says so in its row (`moving`) inside the transaction that does it.
"""

GUARDS = """
CREATE TRIGGER {table}_insert_guard BEFORE INSERT ON {table}
WHEN (SELECT state FROM space WHERE id = NEW.space_id) IS NOT 'moving'
 AND (SELECT "after" FROM journal WHERE space_id = NEW.space_id AND uuid = NEW.uuid
      ORDER BY seq DESC LIMIT 1) IS NOT NEW.hash
  -- REPLACE fires no delete trigger.
  OR (SELECT hash FROM {table} WHERE space_id = NEW.space_id AND uuid = NEW.uuid) IS NEW.hash
BEGIN SELECT RAISE(ABORT, 'an item changes only through its space'); END;

CREATE TRIGGER {table}_update_guard BEFORE UPDATE OF space_id, uuid, hash, {columns} ON {table}
WHEN NEW.hash IS OLD.hash
  OR NEW.uuid IS NOT OLD.uuid
  OR NEW.space_id IS NOT OLD.space_id
  OR (SELECT "after" FROM journal WHERE space_id = NEW.space_id AND uuid = NEW.uuid
      ORDER BY seq DESC LIMIT 1) IS NOT NEW.hash
BEGIN SELECT RAISE(ABORT, 'an item changes only through its space'); END;

CREATE TRIGGER {table}_delete_guard BEFORE DELETE ON {table}
WHEN (SELECT state FROM space WHERE id = OLD.space_id) IS NOT 'moving'
 AND coalesce((SELECT "after" IS NULL FROM journal WHERE space_id = OLD.space_id AND uuid = OLD.uuid
               ORDER BY seq DESC LIMIT 1), 0) = 0
BEGIN SELECT RAISE(ABORT, 'an item changes only through its space'); END;
"""


def guard(table: str, columns: str) -> list[str]:
    """The statements that guard a table; `columns` are those of its state, as SQL."""
    return [f"{each}END" for each in GUARDS.format(table=table, columns=columns).split("END;\n") if each.strip()]
