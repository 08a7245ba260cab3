"""Metrics: one small module a family; ``contract`` says what a metric is."""
