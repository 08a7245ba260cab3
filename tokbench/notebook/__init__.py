"""Results and comparisons as a notebook shows them: small tables, styled tables, and charts."""
