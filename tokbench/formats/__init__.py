"""The report formats that tokbench brings; ``plugin`` registers them. They import ``tokbench.plugin`` alone."""
