"""The corpus sources that tokbench brings; ``plugin`` registers them."""
