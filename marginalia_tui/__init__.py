"""Marginalia: a writing studio in the terminal. Nothing heavy is imported here."""

__version__ = "0.1.0"
