"""The study of validity: which metrics predict the ranking of tokenizers by bits per byte."""
