"""The vocabularies inside ``mistral-common``."""
