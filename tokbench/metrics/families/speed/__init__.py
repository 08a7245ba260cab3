"""The family ``speed``: times all tokenizers in turn, on text that each sees for the first time."""
