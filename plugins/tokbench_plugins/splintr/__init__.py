"""The vocabularies inside ``splintr-rs``: ``backend`` registers, ``tokenizer`` runs."""
