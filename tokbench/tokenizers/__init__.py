"""The contract of tokenizers and backends."""
