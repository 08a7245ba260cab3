"""How a study of vocabulary sizes is shown: its curves, its tables, and its own CSV."""
