"""Byte-level BPE compiled with numba: the same splits, merges and ids, many times faster.

``scan`` splits with an automaton, ``scan_ascii`` by bits. ``count`` counts chunks. ``train`` and its ``pairs`` train;
``extend`` continues from encoded text, ``parity`` merges several texts in turns. ``encode`` looks chunks up in a cache
(``encode_chunks``) and merges the others (``encode_merge``) by the ranks of ``pair_tables``. All import numba.
"""
