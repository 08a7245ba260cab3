"""The study of probes: questions to a tokenizer, shown with its tokens."""
