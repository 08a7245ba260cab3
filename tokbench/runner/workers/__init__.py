"""The processes in which the code of tokenizers runs: ``pool`` from outside, ``worker`` from inside."""
