"""The store: spaces of items with their journal in one SQLite file. Only this package knows that it is SQLite."""
