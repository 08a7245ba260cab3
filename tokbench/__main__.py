"""``python -m tokbench``."""

from tokbench.cli import main

main()
