"""Families of speed: latency, threads, growth, appends, counting, and memory; each module is one."""
