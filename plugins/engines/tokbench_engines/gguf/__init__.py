"""The backend ``gguf``: the tokenizer in a model file of llama.cpp."""
