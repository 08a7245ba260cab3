"""What the same text costs in one language and in another; for corpora whose groups are translations."""
