"""Holds published numbers against tokbench's own."""
