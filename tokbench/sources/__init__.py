"""The built-in corpus sources, which ``plugin`` registers."""
