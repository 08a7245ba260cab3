"""The study of vocabulary sizes: the compression and cost of each size, and a recommendation."""
