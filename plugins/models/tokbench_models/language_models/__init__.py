"""The study of language models: bits per byte of n-gram models and small transformers."""
