"""PickyBPE: removes tokens that were only steps to longer ones during training."""
