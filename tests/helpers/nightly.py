"""Tests of which ``.ci/run`` takes one and the night takes all: the first case of a matrix, the first test of a file."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as ``nightly`` what follows the first case of a test marked ``matrix``, or the first ``one_of_file``."""
    seen = set()
    for item in items:
        for marker, whole in (("matrix", item.nodeid.partition("[")[0]), ("one_of_file", item.path)):
            if item.get_closest_marker(marker):
                if (marker, whole) in seen:
                    item.add_marker("nightly")
                seen.add((marker, whole))
