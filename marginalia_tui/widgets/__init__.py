"""Reusable widgets: they get values and post messages, and know no store, service or command."""
