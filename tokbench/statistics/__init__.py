"""Intervals, tests and inequality, with numpy alone."""
