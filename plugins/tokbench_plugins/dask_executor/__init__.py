"""The executor ``dask``: ``plugin`` registers, ``pool`` gives jobs to a ``cluster``, ``remote`` does them there."""
