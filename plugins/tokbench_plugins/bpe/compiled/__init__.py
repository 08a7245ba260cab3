"""Byte-level BPE compiled with numba: the same splits, merges and ids, many times faster.

``scan`` splits with an automaton, and ``scan_ascii`` by bits where text is ASCII. ``count`` counts different chunks.
``train`` trains, with the ``pairs`` of a text; ``extend`` goes on from a text that is encoded, and ``parity`` merges
several texts in turns. ``encode`` encodes: ``encode_chunks`` looks chunks up in a cache, ``encode_merge`` merges the
others, by the ranks in ``pair_tables``. ``decode`` decodes. All hash by ``hashing``. These
files need numba and are imported only when there is enough to do.
"""
