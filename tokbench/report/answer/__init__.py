"""The answer of a run: which tokenizer, for which text, with what loss, and what to do next."""
