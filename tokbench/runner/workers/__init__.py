"""Worker processes: ``pool`` (the interface, and this process), ``processes`` (others), ``worker`` (inside them)."""
