"""The study of shares of languages: what a vocabulary costs each language, by the mixture that it was trained on."""
