"""Tokenizers of the Hugging Face hub, by name."""
