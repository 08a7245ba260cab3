"""The backends that tokbench includes; ``bpe`` is the engine that several of them share."""
