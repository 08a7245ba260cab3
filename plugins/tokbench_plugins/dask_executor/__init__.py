"""The executor ``dask``: ``plugin`` registers, ``pool`` sends jobs to a ``cluster``, ``remote`` runs them there."""
