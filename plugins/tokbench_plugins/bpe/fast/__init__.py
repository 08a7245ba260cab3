"""Merges and ids of the textbook loops in near-linear time, in Python."""
