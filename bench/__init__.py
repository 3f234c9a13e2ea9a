"""Benchmarks, each beside its reference: `python -m bench`."""
