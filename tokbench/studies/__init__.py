"""The built-in studies: a folder each, which can be deleted."""
