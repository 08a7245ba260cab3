"""The family ``probes``: the classic questions to a tokenizer, each with its texts; ``family`` lists them."""
