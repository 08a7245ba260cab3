"""The backend ``cut``: another tokenizer's vocabulary with its first merges alone."""
