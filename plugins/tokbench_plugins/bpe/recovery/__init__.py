"""Merges found again from bare ranks or lists, and put in an order that can be cut at any size."""
