"""Ids or pieces that another program computed, looked up text by text: compares tokenizers in any language."""
