"""The study of vocabulary sizes: compression, cost and a recommendation."""
