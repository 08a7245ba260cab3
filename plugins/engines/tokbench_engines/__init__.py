"""Engines of other makers, their formats, and what is timed beyond megabytes per second."""
