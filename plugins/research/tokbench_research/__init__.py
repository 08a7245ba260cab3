"""Metrics, probes and corpora of studies."""
