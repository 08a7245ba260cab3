"""The typed model of ``results.json``: ``model`` is the whole, the other modules are its blocks."""
