"""The study of speed: whatever times all tokenizers together, alone on the machine."""
