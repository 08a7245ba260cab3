"""The studies that ship: a folder each, registered by its ``plugin`` module; each can be deleted."""
