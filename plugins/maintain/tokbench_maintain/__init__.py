"""Pins: for those who keep tokenizers."""
