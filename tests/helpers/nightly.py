"""Tests whose cases are a matrix: ``.ci/run`` takes the first case of each, and every night all of them run."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as ``nightly`` the cases of a test marked ``matrix`` after its first."""
    seen = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if item.get_closest_marker("matrix") and function in seen:
            item.add_marker("nightly")
        seen.add(function)
