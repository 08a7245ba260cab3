"""Configuration: strict YAML -> a typed run, every problem with file:line:column."""
