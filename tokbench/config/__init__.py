"""The configuration of a run: strict YAML, checked and typed, with file:line:column for every problem."""
