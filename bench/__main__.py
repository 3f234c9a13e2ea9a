"""`python -m bench [name ...]`: all benchmarks, or those that are named."""

import importlib
import sys

NAMES = ("book", "commands", "store", "startup", "streaming", "rounds", "leases", "control")

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        raise SystemExit(f"There is no benchmark {name!r}: name one of {', '.join(NAMES)}.")
    importlib.import_module(f"bench.{name}").main()
