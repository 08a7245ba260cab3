"""A stranger's package: one good plugin, five broken ones."""
