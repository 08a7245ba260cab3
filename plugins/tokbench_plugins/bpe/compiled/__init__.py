"""Byte-level BPE compiled with numba: the same splits, merges and ids, many times faster.

``scan`` splits with an automaton, and ``scan_ascii`` by bits where text is ASCII; ``count`` counts different chunks,
``train`` trains, ``encode`` encodes (``encode_chunks`` looks chunks up in a cache, ``encode_merge`` merges the others),
``decode`` decodes and ``recover`` finds the merges behind bare ranks. ``jit`` finds out if numba is installed and
compiles. The other files need numba and are imported only when there is enough to do.
"""
