"""The command ``tokbench undertrained``: ids that a model hardly trained, by its own weights."""
