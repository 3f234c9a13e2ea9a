"""The versions of the schema, known without importing alembic."""

HEAD = "0005"
"""The version that this program works with."""

KNOWN = ("0001", "0002", "0003", "0004", "0005")
"""Every version that this program can open; an older one is upgraded."""
