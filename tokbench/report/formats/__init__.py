"""The report formats that tokbench brings; ``plugin`` registers them."""
