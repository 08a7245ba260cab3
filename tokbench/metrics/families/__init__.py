"""The built-in metric families, which ``plugin`` registers."""
