raise RuntimeError("configured for the moon\nnot for the earth")
