"""Small language models on the ids of each tokenizer, and what they say of its other numbers."""
