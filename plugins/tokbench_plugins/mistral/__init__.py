"""The vocabularies inside ``mistral-common``: ``backend`` registers, ``tekken`` runs the newer ones."""
