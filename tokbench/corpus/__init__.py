"""Corpora: sources, shards, words."""
