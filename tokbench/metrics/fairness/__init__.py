"""The family ``fairness``: the cost of the same text in different languages, on corpora of translations."""
