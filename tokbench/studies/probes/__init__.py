"""The study of probes: questions to a tokenizer, with its tokens beside the numbers."""
