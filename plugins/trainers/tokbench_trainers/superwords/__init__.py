"""Merges across words: SuperBPE learns them in a second stage, BoundlessBPE together with the ordinary ones."""
