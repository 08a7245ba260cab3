"""The executor ``dask``."""
