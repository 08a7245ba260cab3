"""Tokenizers that ``AutoTokenizer`` loads: ``backend`` registers, ``hub`` finds and loads, ``tokenizer`` runs."""
