"""Corpora: their sources, their shards, and the words in them."""
