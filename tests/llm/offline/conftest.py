from pathlib import Path

REAL = Path(__file__).parents[4] / "shared" / "realdata"
"""The real books beside the project. Where they are absent, the tests that read them are not collected."""

collect_ignore = [] if REAL.is_dir() else ["test_real_books.py"]
