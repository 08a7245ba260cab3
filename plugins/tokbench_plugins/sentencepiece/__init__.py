"""Google's SentencePiece."""
