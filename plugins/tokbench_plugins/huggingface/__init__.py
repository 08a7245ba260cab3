"""Pipelines of Hugging Face's ``tokenizers``."""
