"""The contract of metrics, and what they rest on: encoded shards, sums over documents, counts of ids."""
