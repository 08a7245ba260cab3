"""The family ``code``: a file for each theme, and ``code`` to join them."""
