"""The workers: ``executor`` chooses ``pool`` (the interface; this process), ``processes`` or ``dask`` (a cluster)."""
