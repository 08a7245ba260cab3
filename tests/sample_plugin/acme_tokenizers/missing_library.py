import library_that_nobody_has  # noqa: F401
