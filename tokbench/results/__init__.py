"""The typed model of ``results.json``."""
