"""The vocabularies inside ``splintr-rs``."""
