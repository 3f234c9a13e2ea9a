"""`python -m marginalia_tui`."""

from marginalia_tui.cli import main

main()
