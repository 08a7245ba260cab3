"""Words: their units by language, and their places in a text."""
