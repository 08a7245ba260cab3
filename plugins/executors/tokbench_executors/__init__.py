"""Runs of tokbench as calls of any ``concurrent.futures.Executor``."""
