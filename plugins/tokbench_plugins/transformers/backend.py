"""The backend ``transformers``: what ``AutoTokenizer`` makes of a local folder or of a name on the hub."""

from tokbench_plugins.hub.backend import AUTO as SPEC  # noqa: F401 - its entry point
