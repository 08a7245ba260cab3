"""The study of vocabulary sizes: compression, cost and the size for a model."""
