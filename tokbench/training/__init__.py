"""The application train: the tokenizers of a configuration, or one from options."""
