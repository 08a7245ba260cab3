"""What runs the code of tokenizers: ``pool`` (this process), ``processes`` (others), ``worker`` (inside of those)."""
