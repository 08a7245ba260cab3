"""The playground: a local page that shows text as tokens, and opens runs."""
