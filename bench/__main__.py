"""`python -m bench [name ...]`: all benchmarks, or those that are named."""

import sys

from bench import store

ALL = {"store": store.main}

for name in sys.argv[1:] or ALL:
    if name not in ALL:
        raise SystemExit(f"There is no benchmark {name!r}: name one of {', '.join(ALL)}.")
    ALL[name]()
