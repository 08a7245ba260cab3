"""Tokenizers that ``AutoTokenizer`` loads."""
