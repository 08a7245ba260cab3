"""The arithmetic of vocabulary size: pure functions, without input or output.

``model`` counts parameters; ``compute`` counts operations and memory of a token and of a byte of text; ``scaling`` is a
published law of optimal sizes; ``trainable`` finds rows of a vocabulary that see too little text; ``knee`` finds the
bend of a curve; ``front`` finds the sizes that no other beats, and recommends one; ``extend`` counts the cost of more
rows.
"""
