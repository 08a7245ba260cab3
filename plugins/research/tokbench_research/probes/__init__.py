"""The study of probes: questions to a tokenizer."""
