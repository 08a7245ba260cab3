"""Byte-level BPE once more, compiled with numba: the same splits, merges and ids.

``scan`` splits with an automaton (``scan_rules``, ``scan_tables``, ``scan_kernels``), ``count`` counts different chunks
(``count_kernels``), ``train`` trains (``train_text``, ``train_heap``, ``train_merge``), ``encode`` encodes
(``encode_chunks`` looks chunks up in ``encode_cache``, or merges them: ``encode_merge``, ``encode_pairs``,
``encode_heap``, ``encode_vector``), and ``decode_kernels`` decodes. ``jit`` is numba where it is installed; all
else here is imported only when there is enough to do.
"""
