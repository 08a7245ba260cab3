"""The study of validity: which metrics predict bits per byte."""
