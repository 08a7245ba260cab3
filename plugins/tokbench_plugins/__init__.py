"""The backends that tokbench brings, one file each; ``bpe`` is the engine that several of them share."""
