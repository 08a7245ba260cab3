"""Pins: the ids of texts under each tokenizer, kept in a file, and the check that they are the same."""
