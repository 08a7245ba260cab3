"""Google's SentencePiece: ``backend`` registers, ``options`` and ``train`` train, ``tokenizer`` runs."""
