"""One run: ``api`` leads through it: plan, prepare, evaluate, cells, store."""
