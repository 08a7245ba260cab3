"""The contract of tokenizers and backends: options, batches, and the merges of a vocabulary."""
