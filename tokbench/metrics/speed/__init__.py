"""Families that measure time and memory: ``speed``, ``latency``, ``threads``, ``growth``, ``footprint``."""
