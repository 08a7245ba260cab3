"""Recovers merges from bare ranks or lists, in an order that can be cut at any size."""
