"""The fast engines of the field, and what is timed beyond megabytes per second."""


def install(extra: str) -> str:
    """Return the command that installs the libraries of an extra.

    >>> install("gguf")
    "pip install 'tokbench-engines[gguf]' (in a clone: pip install -e 'plugins/engines[gguf]')"
    """
    return f"pip install 'tokbench-engines[{extra}]' (in a clone: pip install -e 'plugins/engines[{extra}]')"
