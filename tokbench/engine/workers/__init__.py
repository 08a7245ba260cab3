"""The workers: ``executor`` chooses ``pool`` (the interface; this process), ``processes`` or the pool of a plugin."""
