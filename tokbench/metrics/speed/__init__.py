"""Families that measure time and memory."""
