"""Tokenizers that ``AutoTokenizer`` loads: ``backend`` registers, ``tokenizer`` finds, loads and runs."""
