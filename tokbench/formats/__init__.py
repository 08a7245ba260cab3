"""The report formats of tokbench. They import ``tokbench.plugin`` alone."""
