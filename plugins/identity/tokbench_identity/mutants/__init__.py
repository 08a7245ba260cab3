"""Ways to be wrong: declared transformations of a tokenizer's stages, each with words for people."""
