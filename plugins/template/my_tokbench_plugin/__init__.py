"""Plugins for tokbench: each module brings one thing."""
