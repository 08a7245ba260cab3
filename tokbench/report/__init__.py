"""From results to something to read; nothing here measures."""
