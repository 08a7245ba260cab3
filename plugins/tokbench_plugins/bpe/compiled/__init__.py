"""Byte-level BPE compiled with numba: the same splits, merges and ids, many times faster. All modules import numba."""
