"""Sampling at encoding: BPE dropout and StochasTok."""
