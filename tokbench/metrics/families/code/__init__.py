"""The family ``code``, one file a theme; ``family`` puts them together."""
