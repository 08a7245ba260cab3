"""Timing of tokenizers: turns on the same texts, fresh copies, conditions of the machine, and cells."""
