"""The workers: ``executor`` chooses ``pool`` (the interface, and this process), ``processes``, or ``dask`` (a cluster)."""
