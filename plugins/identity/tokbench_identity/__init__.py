"""One engine of sameness: whether two tokenizers are the same function, and if not, where and why."""
