"""The arithmetic of vocabulary size: pure functions, without input or output.

``model`` counts parameters and ``compute`` what a token and a byte of text cost; ``scaling`` says what a published
law calls optimal, ``trainable`` which rows of a vocabulary see too little text, ``knee`` where a curve bends,
``front`` which sizes nobody beats and which one to take, ``extend`` what more rows cost.
"""
