"""The study of validity: which metrics tell beforehand how tokenizers rank by bits per byte."""
