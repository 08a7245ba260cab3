"""How a notebook shows results and comparisons: small tables, styled tables, and charts."""
