"""``python -m vanling``."""

from vanling.cli.main import main

main()
