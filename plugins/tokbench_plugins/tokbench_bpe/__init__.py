"""tokbench's own BPE with the vocabularies of others."""
