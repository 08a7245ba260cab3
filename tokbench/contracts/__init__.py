"""What a plugin promises: tokenizer, backend, corpus, metric, reporter, options."""
