"""The benchmarks use the fixtures of the tests, and print their figures at the end."""

from summary import tables

pytest_plugins = ["shared_fixtures", "nightly"]


def pytest_terminal_summary(terminalreporter, config):
    """Print what the benchmarks measured."""
    session = config._benchmarksession
    if not session.disabled and session.benchmarks:
        for line in tables(session.benchmarks):
            terminalreporter.write_line(line)
