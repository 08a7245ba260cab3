"""The contract of metrics, and what they use: encoded shards, sums over documents, counts of ids."""
