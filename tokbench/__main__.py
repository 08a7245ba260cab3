"""``python -m tokbench``."""

from tokbench.cli.main import main

main()
