"""The metric families that tokbench brings; ``plugin`` registers them."""
