"""Texts cut into tokens, to look at them: how tokenizers cut them, and the forms in which that is shown."""
