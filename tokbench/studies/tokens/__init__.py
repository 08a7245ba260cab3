"""The study that shows texts as tokens."""
