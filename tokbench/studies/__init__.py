"""The built-in studies: a folder each, registered by its ``plugin`` module; each can be deleted."""
