"""Parity-aware BPE: the language that needs the most tokens chooses each merge, which is then done in all languages."""
