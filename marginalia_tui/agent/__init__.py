"""Agents: language models that work on a copy of one book, and the review of what they did."""
