"""The corpus sources."""
